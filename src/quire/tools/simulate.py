"""Many seeds of the simulated world under each workload, on all cores: `make sim`.

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

from quire.sim.run import WORKLOADS, BrokenRunError, run_seed

PORTION = 20
REPEATED_ONE_IN = 10
SHOW_EVERY_SECONDS = 2.0
Portion = tuple[str, int, list[int]]
"""A workload, a hash seed, and seeds."""


@click.command()
@click.option("--seeds", default=1000, show_default=True, help="How many seeds of each to run.")
@click.option("--first", default=0, show_default=True, help="The first of them.")
@click.option("--seed", type=int, help="Run this one alone.")
@click.option("--workload", type=click.Choice([*WORKLOADS]), help="Only this one.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes at a time.")
@click.option("--portion", hidden=True, help="Run these, separated by commas, in this process.")
def main(
    seeds: int, first: int, seed: int | None, workload: str | None, jobs: int, portion: str | None
) -> None:
    """Run the node in simulated worlds, and judge what it did; exits with 1 when a law is broken."""
    workloads = [*WORKLOADS] if workload is None else [workload]
    if portion is not None:
        sys.exit(_portion(workloads[0], [int(one) for one in portion.split(",")]))
    if seed is not None:
        sys.exit(max(_portion(one, [seed]) for one in workloads))
    for one in workloads:
        if _all(one, list(range(first, first + seeds)), max(1, jobs)) != 0:
            sys.exit(1)
    print("quire sim: all laws held")


def _portion(workload: str, seeds: list[int]) -> int:
    """Run these seeds here; one line for each."""
    for seed in seeds:
        try:
            outcome = run_seed(seed, workload)
        except BrokenRunError as broken:
            print(f"BROKEN {broken}", flush=True)
            return 1
        print(
            f"seed {seed} {outcome.digest} deaths={outcome.deaths} "
            f"power_losses={outcome.power_losses} acknowledged={outcome.acknowledged}",
            flush=True,
        )
    return 0


def _all(workload: str, seeds: list[int], jobs: int) -> int:
    repeated = [seed for seed in seeds if seed % REPEATED_ONE_IN == 0]
    portions: list[Portion] = [
        (workload, hash_seed, wanted[at : at + PORTION])
        for hash_seed, wanted in ((1, seeds), (2, repeated))
        for at in range(0, len(wanted), PORTION)
    ]
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
            print(f"quire sim: {workload}: {done} of {total} runs", flush=True)
    told = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counts.items())
    print(
        f"quire sim: {workload}: {len(seeds)} seeds, {len(repeated)} of them twice with equal "
        f"traces: {told}"
    )
    return 0


def _lines(portions: list[Portion], jobs: int) -> Iterator[str]:
    """What the processes print, as they go; the first broken one ends all."""
    waiting = list(reversed(portions))
    running: list[subprocess.Popen[str]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_started(*waiting.pop()))
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


def _started(workload: str, hash_seed: int, seeds: list[int]) -> subprocess.Popen[str]:
    portion = ",".join(map(str, seeds))
    command = [sys.executable, "-m", "quire.tools.simulate", "--workload", workload]
    command += ["--portion", portion]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
