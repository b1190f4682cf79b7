"""How fast does a broker give out what is committed, and how much CPU does it spend on it?

A log of 64 MiB made of transactions of 16 KiB, every tenth of them aborted, read as readers of committed data do: each
answer names the aborted transactions that it holds. Beside it the same places for readers that take everything.
"""

from __future__ import annotations

from collections.abc import Callable

from load.client import Shape
from load.contest import Case, Target, contest, options, report
from load.frames import fetch
from load.servers import Server
from load.transactional import (
    END_VERSIONS,
    PRODUCE_VERSIONS,
    Producer,
    batch,
    end_request,
    insist,
    produce_request,
    producer,
)

TOPIC = "transactions"
LOG_BYTES = 64 << 20
RECORDS = 150
"""In a batch of 16 KiB."""
BYTES_PER_TRANSACTION = 16384
PLACES = 64
FIGURES = (
    ("mb_per_second", "MB/s"),
    ("per_second", "requests/s"),
    ("cpu_us", "us of CPU per request"),
    ("cpu_per_gb", "s of CPU per GB"),
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
)
TARGETS = (
    Target("per_second", "throughput", at_least=1.5),
    Target("cpu_us", "CPU per request and GB", at_most=0.5),
)


def transactions() -> int:
    return LOG_BYTES // BYTES_PER_TRANSACTION


def fill(server: Server) -> None:
    server.create(TOPIC, 1, retention_ms="-1")
    who = producer(server, "filling")
    with server.asker() as asker:
        for number in range(transactions()):
            request = produce_request(who, TOPIC, 0, batch(who, 0, RECORDS))
            insist(
                asker, request, PRODUCE_VERSIONS[2],
                lambda answer: answer.responses[0].partition_responses[0].error_code,
            )  # fmt: skip
            ending = end_request(who, commit=number % 10 != 0)
            ended = insist(asker, ending, END_VERSIONS[2], lambda answer: answer.error_code)
            who = Producer(who.name, ended.producer_id, ended.producer_epoch)


def framer(size: int, *, committed: bool) -> Callable[[str], list[bytes]]:
    step = transactions() // PLACES * (RECORDS + 1) * 3 // 4
    return lambda topic: [
        fetch(topic, 0, number * step, size, committed=committed) for number in range(1, PLACES)
    ]


def case(size: int, words: str, shape: Shape, *, committed: bool = True) -> Case:
    return Case(
        name=f"{words}{'' if committed else ' of everything'}, {shape}",
        shape=Shape(shape.connections, shape.depth, cycle=True),
        check="fetch",
        frames=framer(size, committed=committed),
        targets=TARGETS if committed else (),
        expect=size // 2,
        topic=TOPIC,
    )


def cases() -> list[Case]:
    return [
        case(65536, "64 KiB", Shape(4, 5)),
        case(65536, "64 KiB", Shape(1, 1)),
        case(65536, "64 KiB", Shape(4, 5), committed=False),
        case(1 << 20, "1 MiB", Shape(4, 2)),
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    with contest(chosen) as held:
        for server in held.servers.values():
            fill(server)
        held.warm_up(asked)
        held.ask(asked)
        report(held, headline=(asked[0].name, "mb_per_second", "MB/s"), figures=FIGURES)


if __name__ == "__main__":
    main()
