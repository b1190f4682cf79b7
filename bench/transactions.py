"""How many small transactions does a broker carry, and how much CPU does it spend on each?

A transaction is one record of 100 bytes in one partition and its commit, by one producer and by ten at once, each with
a transactional id of its own: as clients of version 2 do (Produce, EndTxn) and as those of version 1, which add the
partition first. A producer that is told that its last transaction is ending still asks again after a millisecond.

Apache Kafka itself waits when a leader adds the partition (version 2) while the last transaction is ending:
`add.partitions.to.txn.retry.backoff.ms`, 20 ms as shipped. One producer without a pause meets that nearly every time,
so its rate there says little of the broker's strength; that of ten, and of version 1, says more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from load.client import Shape
from load.contest import Case, Target, contest, options, report
from load.servers import Server
from load.transactional import places, producer, transaction

PARTITIONS = 4
PRODUCERS = (1, 10)
FIGURES = (
    ("per_second", "transactions/s"),
    ("cpu_us", "us of CPU per transaction"),
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
    ("waits", "waits"),
)
TARGETS = (
    Target("per_second", "throughput", at_least=1.5),
    Target("cpu_us", "CPU per transaction", at_most=0.5),
)
numbers = itertools.count(1)


def new_id() -> str:
    """All are of one length, so that every frame has the same shape."""
    return f"bench-{next(numbers):06d}"


def asking(count: int, version: int) -> Callable[[Server, str], list[bytes]]:
    def made(server: Server, topic: str) -> list[bytes]:
        frames = []
        for number in range(count):
            who = producer(server, new_id())
            frames += transaction(who, topic, number % PARTITIONS, version)
        return frames

    return made


def placing(version: int) -> Callable[[str], dict[str, int]]:
    return lambda topic: places(new_id(), topic, version)


def cases() -> list[Case]:
    return [
        Case(
            name=f"version {version}, {count} producer{'s' * (count > 1)}",
            shape=Shape(count, 1),
            check="transact",
            asking=asking(count, version),
            places=placing(version),
            targets=TARGETS,
            partitions=PARTITIONS,
        )
        for version in (2, 1)
        for count in PRODUCERS
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    with contest(chosen) as held:
        held.warm_up(asked)
        held.ask(asked)
        report(held, headline=(asked[1].name, "per_second", "transactions/s"), figures=FIGURES)


if __name__ == "__main__":
    main()
