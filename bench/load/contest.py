"""Cases, rounds, medians: every contestant gets the same frames in turns, and every figure is told beside the peer's.

A case is asked in rounds; in each round every contestant has its turn, and who begins changes with the round. A round
that writes does so into a topic of its own, which is deleted afterwards, so that no round pays for the one before.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from statistics import median

from load.client import Figures, Shape, run
from load.servers import LARGE_BUFFERS, Kafka, Quire, Server, why_no_kafka
from measure import Answer, shown, tell

QUIRE = "Quire"
KAFKA = Kafka.name
KAFKA_TUNED = f"{KAFKA}, socket buffers of 2 MiB"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of everything; `--quick` is for orientation only."""

    rounds: int
    seconds: float
    warmup_seconds: float
    """Of load before the first round, for each contestant: a virtual machine compiles while it works."""
    quick: bool


FULL = Effort(rounds=3, seconds=1.2, warmup_seconds=16, quick=False)
QUICK = Effort(rounds=1, seconds=0.8, warmup_seconds=4, quick=True)


@dataclass(frozen=True, slots=True)
class Target:
    """A figure of Quire must be at least or at most so many times the peer's."""

    figure: str
    words: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def bound(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}"

    def missed(self, ratio: float) -> bool:
        return (self.at_least is not None and ratio < self.at_least) or (
            self.at_most is not None and ratio > self.at_most
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a server. `frames` are made for a topic, which `fill` may have filled before."""

    name: str
    shape: Shape
    check: str
    _: KW_ONLY
    frames: Callable[[str], list[bytes]] | None = None
    asking: Callable[[Server, str], list[bytes]] | None = None
    """Instead of `frames`, when the server has to be asked before they can be made."""
    targets: tuple[Target, ...] = ()
    payload_bytes: int = 0
    expect: int = 0
    partitions: int = 4
    topic: str | None = None
    """One that is there already; None makes one for the round."""
    places: Callable[[str], dict[str, int]] | None = None
    """Where in the frames something stands, by the load client's names."""
    length: float = 1.0
    """How many times longer than others a round takes: rare moments need many requests."""
    in_quick: bool = True
    tuned_too: bool = False

    def made_for(self, server: Server, topic: str) -> list[bytes]:
        if self.asking is not None:
            return self.asking(server, topic)
        assert self.frames is not None
        return self.frames(topic)


@dataclass
class Contest:
    """The contestants that are running, and what they did."""

    servers: dict[str, Server]
    effort: Effort
    missing: list[str]
    seen: dict[str, dict[str, list[Figures]]] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    topics: int = 0

    def take(self, case: Case, server: Server, seconds: float) -> Figures:
        name = case.topic
        if name is None:
            self.topics += 1
            name = f"round-{self.topics:05d}"
            server.create(name, case.partitions, file_delete_delay_ms="0")
        try:
            return run(
                server, case.made_for(server, name), case.check, case.shape, seconds=seconds,
                payload_bytes=case.payload_bytes, expect=case.expect,
                places=case.places(name) if case.places else None,
            )  # fmt: skip
        finally:
            if case.topic is None:
                server.delete(name)
                time.sleep(0.1)

    def warm_up(self, cases: Sequence[Case]) -> None:
        """Until the compilers of the virtual machine are done; Quire gets a tenth of it."""
        for name, server in self.servers.items():
            budget = self.effort.warmup_seconds / (10 if name == QUIRE else 1)
            for case in cases:
                self.take(case, server, budget / len(cases))

    def ask(self, cases: Sequence[Case]) -> None:
        for case in cases:
            if self.effort.quick and not case.in_quick:
                continue
            self.cases[case.name] = case
            figures = self.seen.setdefault(case.name, {})
            names = [n for n in self.servers if n != KAFKA_TUNED or case.tuned_too]
            for number in range(self.effort.rounds):
                start = number % len(names)
                for name in names[start:] + names[:start]:
                    taken = self.take(case, self.servers[name], self.effort.seconds * case.length)
                    figures.setdefault(name, []).append(taken)

    def figure(self, case: str, server: str, name: str) -> float:
        """The median over the rounds."""
        return median(getattr(one, name) for one in self.seen[case][server])

    def ratio(self, case: str, name: str, to: str = KAFKA) -> float | None:
        """Quire's figure divided by the other's; None when one of them is not there."""
        took_part = self.seen.get(case, {})
        if QUIRE not in took_part or to not in took_part:
            return None
        return self.figure(case, QUIRE, name) / self.figure(case, to, name)


def options(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="one short round, fewer cases")
    parser.add_argument("--only", choices=("quire", "kafka"), help="measure one contestant alone")
    return parser.parse_args()


@contextlib.contextmanager
def contest(
    chosen: argparse.Namespace, *, tuned: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[Contest]:
    """All contestants, started; stopped and their directories gone afterwards."""
    effort = QUICK if chosen.quick else FULL
    missing = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quire-bench-")))
        servers: dict[str, Server] = {}
        if chosen.only != "kafka":
            servers[QUIRE] = Quire(folder / "quire", settings)
        if chosen.only != "quire":
            reason = why_no_kafka()
            if reason is None:
                servers[KAFKA] = Kafka(folder / "kafka", settings)
                if tuned and not effort.quick:
                    more = {**(settings or {}), **LARGE_BUFFERS}
                    servers[KAFKA_TUNED] = Kafka(folder / "tuned", more)
            else:
                print(f"PEER MISSING: no ratio to {KAFKA} ({reason})", file=sys.stderr)
                missing.append(KAFKA)
        for server in servers.values():
            stack.enter_context(server.running())
        yield Contest(servers, effort, missing)


def lines(held: Contest, figures: Sequence[tuple[str, str]], missed: list[str]) -> Iterator[str]:
    """Every case: each contestant's figures with their units, then the ratios; what is missed goes into `missed`."""
    for name, case in held.cases.items():
        yield name
        for server in held.seen[name]:
            values = [f"{shown(held.figure(name, server, one))} {unit}" for one, unit in figures]
            yield f"    {server}: {', '.join(values)}"
        for to in (KAFKA, KAFKA_TUNED):
            if words := list(compared(held, case, to, missed)):
                yield f"    beside {to}: {', '.join(words)}"


def compared(held: Contest, case: Case, to: str, missed: list[str]) -> Iterator[str]:
    for target in case.targets:
        ratio = held.ratio(case.name, target.figure, to)
        if ratio is None:
            continue
        words = f"{ratio:.2f} times its {target.words}"
        if target.missed(ratio):
            words += f" (TARGET MISSED: {target.bound})"
            missed.append(f"{case.name}: {ratio:.2f} times the {target.words} of {to}")
        yield words


def report(
    held: Contest,
    *,
    headline: tuple[str, str, str],
    figures: Sequence[tuple[str, str]],
    remarks: Sequence[str] = (),
) -> None:
    """Tell everything. The headline is (case, figure, unit)."""
    case, name, unit = headline
    who = QUIRE if QUIRE in held.servers else next(iter(held.servers))
    values = [getattr(one, name) for one in held.seen[case][who]]
    ratio = held.ratio(case, name)
    missed: list[str] = []
    told = [*lines(held, figures, missed), *remarks]
    tell(
        Answer(
            best=max(values),
            median=median(values),
            unit=f"{unit} by {who}, {case}",
            beside={} if ratio is None else {KAFKA: ratio},
            missing=held.missing,
            remarks=told,
            missed=missed,
        )
    )
