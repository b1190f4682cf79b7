"""How many offsets does a group coordinator take, and how much CPU does it spend on them?

One offset in each OffsetCommit, of groups without members: by one connection and by twenty, each for its own group.
An answer is given when the offset is written.
"""

from __future__ import annotations

from load.client import Shape
from load.contest import Case, Target, contest, options, report
from load.servers import Server
from load.transactional import commit

FRAMES = 20
FIGURES = (
    ("per_second", "commits/s"),
    ("cpu_us", "us of CPU per commit"),
    ("p50_us", "us p50"),
    ("p99_us", "us p99"),
)
TARGETS = (
    Target("per_second", "throughput", at_least=1.5),
    Target("cpu_us", "CPU per commit", at_most=0.5),
)
SHAPES = (Shape(1, 20), Shape(1, 1), Shape(20, 5), Shape(20, 1))


def asking(server: Server, topic: str) -> list[bytes]:
    return [commit(server, f"group-{n}", topic, n % 4, 1000 + n) for n in range(FRAMES)]


def cases() -> list[Case]:
    return [
        Case(
            name=f"commits, {shape}",
            shape=shape,
            check="commit",
            asking=asking,
            targets=TARGETS,
            in_quick=shape.depth > 1,
        )
        for shape in SHAPES
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    asked = cases()
    with contest(chosen) as held:
        held.warm_up(asked)
        held.ask(asked)
        report(held, headline=(asked[0].name, "per_second", "commits/s"), figures=FIGURES)


if __name__ == "__main__":
    main()
