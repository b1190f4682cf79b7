"""How fast does a broker give out what it holds, and how much CPU does it spend on it?

Fetches of 64 KiB and of 1 MiB from a log of 256 MiB in the page cache, each request from another place; and the most
trivial question of all, Metadata without topics, for the price of a request as such. Apache Kafka takes part twice: as
it is shipped, with socket buffers of 100 KiB, and with buffers of 2 MiB.
"""

from __future__ import annotations

from collections.abc import Callable

from load.client import Shape, run
from load.contest import Case, Target, contest, options, report
from load.frames import batch_of, fetch, metadata, produce
from load.servers import Server

TOPIC = "filled"
BATCH_BYTES = 64 * 1024
LOG_BYTES = 256 << 20
PLACES = 64
NO_WORSE = 1.0
FIGURES = (
    ("mb_per_second", "MB/s"),
    ("per_second", "requests/s"),
    ("cpu_us", "us of CPU per request"),
    ("cpu_per_gb", "s of CPU per GB"),
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
)
SMALL = (
    Target("per_second", "throughput", at_least=2),
    Target("cpu_us", "CPU per request and GB", at_most=0.5),
)
LARGE = (
    Target("per_second", "throughput", at_least=NO_WORSE),
    Target("cpu_us", "CPU per request and GB", at_most=NO_WORSE),
)


def fill(server: Server) -> None:
    """One partition with 256 MiB in batches of 64 KiB."""
    server.create(TOPIC, 1)
    batch = batch_of(BATCH_BYTES)
    frames = [produce(TOPIC, 0, batch, 1)]
    written = 0
    while written < LOG_BYTES:
        taken = run(server, frames, "produce", Shape(1, 4), seconds=0.5, payload_bytes=len(batch))
        written += taken.payload


def records_per_batch() -> int:
    return int.from_bytes(batch_of(BATCH_BYTES)[57:61], "big")


def framer(size: int) -> Callable[[str], list[bytes]]:
    step = LOG_BYTES // PLACES // BATCH_BYTES * records_per_batch() * 3 // 4
    return lambda topic: [fetch(topic, 0, number * step, size) for number in range(PLACES)]


def case(
    size: int, words: str, shape: Shape, targets: tuple[Target, ...], *, in_quick: bool = True
) -> Case:
    return Case(
        name=f"{words}, {shape}",
        shape=Shape(shape.connections, shape.depth, cycle=True),
        check="fetch",
        frames=framer(size),
        targets=targets,
        expect=size // 2,
        topic=TOPIC,
        in_quick=in_quick,
        tuned_too=True,
    )


def trivial(shape: Shape) -> Case:
    return Case(
        name=f"Metadata, {shape}",
        shape=shape,
        check="plain",
        frames=lambda _topic: [metadata()],
        targets=SMALL,
        topic=TOPIC,
    )


def cases() -> list[Case]:
    return [
        case(65536, "64 KiB", Shape(4, 5), SMALL),
        case(65536, "64 KiB", Shape(1, 1), SMALL),
        case(65536, "64 KiB", Shape(100, 1), SMALL, in_quick=False),
        case(4096, "4 KiB", Shape(4, 5), SMALL, in_quick=False),
        case(1 << 20, "1 MiB", Shape(4, 2), LARGE),
        case(1 << 20, "1 MiB", Shape(1, 1), LARGE, in_quick=False),
        trivial(Shape(10, 20)),
        trivial(Shape(100, 1)),
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    headline = (asked[0].name, "mb_per_second", "MB/s")
    with contest(chosen, tuned=True) as held:
        for server in held.servers.values():
            fill(server)
        held.warm_up([case for case in asked if case.in_quick])
        held.ask(asked)
        report(held, headline=headline, figures=FIGURES)


if __name__ == "__main__":
    main()
