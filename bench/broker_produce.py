"""How fast does a broker take batches, and how much CPU does it spend on them?

Batches of 16 KiB and of one record of 100 bytes; pipelined, one at a time, and from 100 connections; acknowledged by
the leader and by all. The answers' error codes are checked, so a refused batch never counts.
"""

from __future__ import annotations

from collections.abc import Callable

from load.client import Shape
from load.contest import Case, Target, contest, options, report
from load.frames import batch_of, produce, tiny_batch

BATCH_BYTES = 16 * 1024
PARTITIONS = 4
SHAPES = {
    "tiny": (Shape(10, 5), Shape(1, 1), Shape(100, 1)),
    "16 KiB": (Shape(4, 5), Shape(1, 1), Shape(100, 1)),
}
TARGETS = (
    Target("per_second", "throughput", at_least=2),
    Target("cpu_us", "CPU per batch and GB", at_most=0.5),
)
FIGURES = (
    ("mb_per_second", "MB/s"),
    ("per_second", "requests/s"),
    ("cpu_us", "us of CPU per request"),
    ("cpu_per_gb", "s of CPU per GB"),
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
)
HEADLINE = f"16 KiB, {SHAPES['16 KiB'][0]}, acks=1"


def framer(batch: bytes, acks: int) -> Callable[[str], list[bytes]]:
    return lambda topic: [produce(topic, number, batch, acks) for number in range(PARTITIONS)]


def cases() -> list[Case]:
    made = []
    for size, batch in (("16 KiB", batch_of(BATCH_BYTES)), ("tiny", tiny_batch())):
        for acks in (1, -1):
            made += [
                Case(
                    name=f"{size}, {shape}, acks={'all' if acks < 0 else acks}",
                    shape=shape,
                    check="produce",
                    frames=framer(batch, acks),
                    targets=TARGETS,
                    payload_bytes=len(batch),
                    partitions=PARTITIONS,
                    in_quick=acks == 1,
                )
                for shape in SHAPES[size]
            ]
    return made


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    with contest(chosen) as held:
        held.warm_up([case for case in asked if case.in_quick])
        held.ask(asked)
        report(held, headline=(HEADLINE, "mb_per_second", "MB/s"), figures=FIGURES)


if __name__ == "__main__":
    main()
