"""How long does a client wait, at loads that both brokers carry easily?

Requests are due at fixed moments, the same for everybody, and a latency counts from the due moment: a broker that
pauses is not excused from the requests that it kept waiting. From end to end: one connection produces single records,
another waits in a long poll for each.
"""

from __future__ import annotations

from load.client import Shape
from load.contest import Case, Target, contest, options, report
from load.frames import batch_of, fetch, place_of_fetch_offset, produce, tiny_batch

FIGURES = (
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
    ("p999_us", "us p99.9"),
    ("cpu_us", "us of CPU per request"),
)
HALF = Target("p99_us", "p99", at_most=0.5)
NO_WORSE = Target("p999_us", "p99.9", at_most=1.0)
CONNECTIONS = 100
LENGTH = 2.5


def end_to_end(rate: float) -> Case:
    return Case(
        name=f"end to end, {rate:.0f} records/s",
        shape=Shape(1, 1, rate=rate),
        check="follow",
        frames=lambda topic: [produce(topic, 0, tiny_batch(), 1), fetch(topic, 0, 0, 1 << 20)],
        targets=(HALF,),
        partitions=1,
        length=LENGTH,
        places=place_of_fetch_offset,
        in_quick=rate > 500,
    )


def producing(words: str, batch: bytes, shape: Shape, acks: int) -> Case:
    return Case(
        name=f"produce {words}, {shape}, acks={'all' if acks < 0 else acks}",
        shape=shape,
        check="produce",
        frames=lambda topic: [produce(topic, number, batch, acks) for number in range(4)],
        targets=(HALF, NO_WORSE) if shape.connections == CONNECTIONS else (HALF,),
        payload_bytes=len(batch),
        length=LENGTH,
    )


def cases() -> list[Case]:
    return [
        end_to_end(200),
        end_to_end(1000),
        producing("tiny", tiny_batch(), Shape(1, 1, rate=1000), 1),
        producing("16 KiB", batch_of(16384), Shape(CONNECTIONS, 1, rate=2000), -1),
        producing("1 KiB", batch_of(1024), Shape(CONNECTIONS, 1, rate=4000), -1),
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    with contest(chosen) as held:
        held.warm_up(asked)
        held.ask(asked)
        report(held, headline=(asked[1].name, "p99_us", "us p99"), figures=FIGURES)


if __name__ == "__main__":
    main()
