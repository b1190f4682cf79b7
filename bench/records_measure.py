"""What the benchmarks of the records room share: the sample, the stopwatch, the peers.

The best of many short runs is shown: on a shared machine it is the number that repeats.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

RECORD_COUNT = 1000
TIMESTAMP_MS = 1_700_000_000_000
PAIRS = [(b"key-%06d" % number, b"v" * 100) for number in range(RECORD_COUNT)]
"""1,000 records: keys of 10 bytes, values of 100, no headers."""


def best_seconds(call: Callable[[], object], *, runs: int = 200, seconds: float = 2.0) -> float:
    """The shortest time one call took, over up to `runs` runs or about `seconds`."""
    best = float("inf")
    deadline = time.perf_counter() + seconds
    for _ in range(runs):
        began = time.perf_counter()
        call()
        ended = time.perf_counter()
        best = min(best, ended - began)
        if ended > deadline:
            break
    return best


def show(what: str, seconds: float, records: int = RECORD_COUNT) -> None:
    print(f"{what}: {records / seconds / 1e6:.2f} M records/s")


def peer(module: str) -> ModuleType | None:
    """A peer's module; says so loudly when it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.split(".", maxsplit=1)[0]
        print(f"PEER MISSING: {name} is not installed, so there is no ratio to it")
        return None


def show_ratio(name: str, ours: float, theirs: float) -> None:
    rate = RECORD_COUNT / theirs / 1e6
    print(f"  {theirs / ours:.1f} times {name} ({rate:.2f} M records/s)")


def implementation_name() -> str:
    from quire.records import implementation

    return implementation.NAME
