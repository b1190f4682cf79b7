"""Many seeds of the simulated world, on all cores: `make sim`.

Each seed runs in a process with a hash seed of its own, and every tenth one runs again in a process with another: their
traces must be equal.

Not here   what a seed does (sim.run).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import click

from quire.sim.run import BrokenRunError, run_seed

PORTION = 20
REPEATED_ONE_IN = 10
SHOW_EVERY_SECONDS = 2.0


@click.command()
@click.option("--seeds", default=1000, show_default=True, help="How many seeds to run.")
@click.option("--first", default=0, show_default=True, help="The first of them.")
@click.option("--seed", type=int, help="Run this one alone.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes at a time.")
@click.option("--portion", hidden=True, help="Run these, separated by commas, in this process.")
def main(seeds: int, first: int, seed: int | None, jobs: int, portion: str | None) -> None:
    """Run the node in simulated worlds, and judge what it did; exits with 1 when a law is broken."""
    if portion is not None:
        sys.exit(_portion([int(one) for one in portion.split(",")]))
    if seed is not None:
        sys.exit(_portion([seed]))
    sys.exit(_all(list(range(first, first + seeds)), max(1, jobs)))


def _portion(seeds: list[int]) -> int:
    """Run these seeds here; one line for each."""
    for seed in seeds:
        try:
            outcome = run_seed(seed)
        except BrokenRunError as broken:
            print(f"BROKEN {broken}", flush=True)
            return 1
        print(
            f"seed {seed} {outcome.digest} deaths={outcome.deaths} "
            f"power_losses={outcome.power_losses} acknowledged={outcome.acknowledged}",
            flush=True,
        )
    return 0


def _all(seeds: list[int], jobs: int) -> int:
    repeated = [seed for seed in seeds if seed % REPEATED_ONE_IN == 0]
    portions = [(1, seeds[at : at + PORTION]) for at in range(0, len(seeds), PORTION)]
    portions += [(2, repeated[at : at + PORTION]) for at in range(0, len(repeated), PORTION)]
    digests: dict[int, str] = {}
    counts = {"deaths": 0, "power_losses": 0, "acknowledged": 0}
    total, shown = len(seeds) + len(repeated), time.monotonic()
    for done, line in enumerate(_lines(portions, jobs), 1):
        if not line.startswith("seed "):
            print(line, file=sys.stderr)
            return 1
        _, seed, digest, *figures = line.split()
        if digests.setdefault(int(seed), digest) != digest:
            print(f"BROKEN seed {seed}: two runs of it differ", file=sys.stderr)
            return 1
        for figure in figures:
            name, value = figure.split("=")
            counts[name] += int(value)
        if time.monotonic() - shown > SHOW_EVERY_SECONDS:
            shown = time.monotonic()
            print(f"quire sim: {done} of {total} runs", flush=True)
    told = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counts.items())
    print(f"quire sim: {len(seeds)} seeds, {len(repeated)} of them twice with equal traces: {told}")
    print("quire sim: all laws held")
    return 0


def _lines(portions: list[tuple[int, list[int]]], jobs: int) -> Iterator[str]:
    """What the processes print, as they go; the first broken one ends all."""
    waiting = list(reversed(portions))
    running: list[subprocess.Popen[str]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                hash_seed, seeds = waiting.pop()
                running.append(_started(hash_seed, seeds))
            process = running.pop(0)
            assert process.stdout is not None
            output, _ = process.communicate()
            lines = output.splitlines()
            yield from lines if process.returncode == 0 else ["\n".join(_broken(lines))]
    finally:
        for process in running:
            process.kill()
            process.wait()


def _broken(lines: list[str]) -> list[str]:
    """From the broken seed on."""
    starts = [number for number, line in enumerate(lines) if not line.startswith("seed ")]
    return lines[starts[0] :] if starts else [*lines, "a process of the simulator ended early"]


def _started(hash_seed: int, seeds: list[int]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "quire.tools.simulate", "--portion", ",".join(map(str, seeds))]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
