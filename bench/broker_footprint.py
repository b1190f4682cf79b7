"""How much memory does a broker take, how fast does it start, and what do 1,000 partitions cost?

Memory is the resident set: some seconds after the start, and at its highest under load. A start counts from the making
of the process to the first answered Metadata, on a directory that was formatted before, and once more on one that holds
1,000 partitions, until each of them answers where it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from load.client import Shape, run
from load.contest import KAFKA, QUIRE, Contest, contest, options
from load.frames import batch_of, produce
from load.servers import Server
from measure import Answer, shown, tell

PARTITIONS = 1000
SETTLE_SECONDS = 3.0
MEMORY_IDLE_MB = 60
START_SECONDS = 0.3
RESTART_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Question:
    words: str
    unit: str
    at_most: float | None = None
    """An absolute target."""
    of_the_peer: float | None = None
    """A target as a part of the peer's figure."""


QUESTIONS = {
    "start": Question("cold start to the first answered Metadata", "s", at_most=START_SECONDS),
    "idle": Question("memory, idle", "MB", at_most=MEMORY_IDLE_MB),
    "loaded": Question("memory, highest under 100 producing connections", "MB", of_the_peer=0.1),
    "create": Question(f"a topic of {PARTITIONS} partitions, until all answer", "s"),
    "many": Question(f"memory with {PARTITIONS} partitions", "MB"),
    "stop": Question(f"clean stop with {PARTITIONS} partitions", "s"),
    "restart": Question(
        f"restart with {PARTITIONS} partitions, until all answer",
        "s",
        at_most=RESTART_SECONDS,
    ),
}


@dataclass
class Seen:
    held: Contest
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def each(self, question: str, answer: Callable[[Server], float]) -> None:
        for name, server in self.held.servers.items():
            self.figures.setdefault(question, {}).setdefault(name, []).append(answer(server))

    def median(self, question: str, who: str) -> float | None:
        values = self.figures.get(question, {}).get(who)
        return median(values) if values else None


def cold_start(server: Server) -> float:
    server.stop()
    return server.start()


def under_load(server: Server, seconds: float) -> float:
    server.create("loaded", 4, file_delete_delay_ms="0")
    batch = batch_of(16384)
    frames = [produce("loaded", number, batch, -1) for number in range(4)]
    run(server, frames, "produce", Shape(100, 1), seconds=seconds, payload_bytes=len(batch))
    highest = server.memory_mb("VmHWM")
    server.delete("loaded")
    return highest


def create_many(server: Server) -> float:
    began = time.perf_counter()
    server.create("many", PARTITIONS)
    return time.perf_counter() - began


def restart(server: Server) -> float:
    began = time.perf_counter()
    server.start()
    server.until_led("many", PARTITIONS)
    return time.perf_counter() - began


def measured(held: Contest) -> Seen:
    seen = Seen(held)
    for _ in range(held.effort.rounds):
        seen.each("start", cold_start)
    time.sleep(SETTLE_SECONDS)
    seen.each("idle", lambda server: server.memory_mb())
    seen.each("loaded", lambda server: under_load(server, 1 if held.effort.quick else 4))
    seen.each("create", create_many)
    seen.each("many", lambda server: server.memory_mb())
    for _ in range(1 if held.effort.quick else 2):
        seen.each("stop", lambda server: server.stop())
        seen.each("restart", restart)
    return seen


def told(seen: Seen, missed: list[str]) -> list[str]:
    lines = []
    for name, question in QUESTIONS.items():
        ours, theirs = seen.median(name, QUIRE), seen.median(name, KAFKA)
        words = [
            f"{who} {shown(value)} {question.unit}"
            for who, value in ((QUIRE, ours), (KAFKA, theirs))
            if value is not None
        ]
        if ours is not None and theirs is not None:
            words.append(f"{ours / theirs:.3f} of it")
        bound = question.at_most
        if question.of_the_peer is not None and theirs is not None:
            bound = question.of_the_peer * theirs
        if ours is not None and bound is not None and ours > bound:
            words.append(f"TARGET MISSED: at most {shown(bound)} {question.unit}")
            missed.append(f"{question.words}: {shown(ours)} {question.unit}")
        lines.append(f"{question.words}: {', '.join(words)}")
    return lines


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    with contest(chosen) as held:
        seen = measured(held)
        who = QUIRE if QUIRE in held.servers else KAFKA
        starts = seen.figures["start"][who]
        theirs = seen.median("start", KAFKA)
        missed: list[str] = []
        remarks = told(seen, missed)
        tell(
            Answer(
                best=min(starts),
                median=median(starts),
                unit=f"s from process start to Metadata by {who}",
                smaller_is_better=True,
                beside={} if theirs is None or who == KAFKA else {KAFKA: theirs / median(starts)},
                missing=held.missing,
                remarks=remarks,
                missed=missed,
            )
        )


if __name__ == "__main__":
    main()
