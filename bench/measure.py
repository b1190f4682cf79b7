"""What the questions share: the sample, the race in rounds, the peers, and the way an answer is told.

Contestants take turns in short rounds, so that a noisy minute hits all of them; of each, the best round and the median
are kept. On a shared machine the best is the number that repeats, the median says how far from it a day may be.

A question is one file with one number. Alone it prints its answer; under `run.py` it also writes it, as JSON, to the
file that QUIRE_BENCH_ANSWER names.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PEERS_VENV = ROOT / ".bench-venv"
PEER_REQUIREMENTS = ("kafka-python==3.0.12", "aiokafka==0.14.0")

sys.path.insert(0, str(ROOT / "src"))
sys.path += [str(path) for path in PEERS_VENV.glob("lib/python3.*/site-packages")]

RECORD_COUNT = 1000
TIMESTAMP_MS = 1_700_000_000_000
PAIRS = [(b"key-%06d" % number, b"v" * 100) for number in range(RECORD_COUNT)]
"""1,000 records: keys of 10 bytes, values of 100, no headers; 120 KB."""


class Spent(NamedTuple):
    """Seconds that one contestant took."""

    best: float
    median: float


def turn(call: Callable[[], object], *, seconds: float = 0.004) -> Callable[[], float]:
    """A turn of as many calls as fill `seconds`, at least one; gives the seconds of one call."""
    call()
    began = time.perf_counter()
    call()
    count = max(1, int(seconds / max(time.perf_counter() - began, 1e-9)))

    def take() -> float:
        began = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - began) / count

    return take


def race(turns: Mapping[str, Callable[[], float]], *, rounds: int = 60) -> dict[str, Spent]:
    """Everybody's best and median; who begins changes with every round."""
    names = list(turns)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            taken[name].append(turns[name]())
    return {name: Spent(min(times), median(times)) for name, times in taken.items()}


@dataclass
class Answer:
    """One number with its unit; what it is beside the peers; what else was seen."""

    best: float
    median: float
    unit: str
    smaller_is_better: bool = False
    target: float | None = None
    beside: dict[str, float] = field(default_factory=dict)
    """Peer and how many times better than it we are: below 1 we lose."""
    missing: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Targets that were missed, in words; the target of the number itself is added by `tell`."""


def tell(answer: Answer) -> None:
    """Print the answer; write it where `run.py` waits for it."""
    if answer.target is not None:
        reached = answer.best >= answer.target
        if answer.smaller_is_better:
            reached = answer.best <= answer.target
        if not reached:
            answer.missed.append(f"{shown(answer.target)} {answer.unit}")
    print(sentence(asdict(answer)))
    for remark in answer.remarks:
        print(f"  {remark}")
    if path := os.environ.get("QUIRE_BENCH_ANSWER"):
        Path(path).write_text(json.dumps(asdict(answer)))


def sentence(answer: dict[str, object]) -> str:
    """An answer in one line."""
    words = f"{shown(answer['best'])} {answer['unit']} (median {shown(answer['median'])})"
    beside = answer["beside"]
    if beside:
        words += "; " + ", ".join(f"{ratio:.2f} times {peer}" for peer, ratio in beside.items())
    if answer["missing"]:
        words += f"; PEER MISSING: {', '.join(answer['missing'])}"
    if answer["missed"]:
        words += f"; TARGET MISSED: {', '.join(answer['missed'])}"
    return words


def shown(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def peer(distribution: str, module: str) -> tuple[str, ModuleType | None]:
    """A peer with its version, and the module that is asked for; None when it is not there."""
    try:
        return f"{distribution} {version(distribution)}", importlib.import_module(module)
    except (PackageNotFoundError, ImportError) as reason:
        print(f"PEER MISSING: no ratio to {distribution} ({reason})", file=sys.stderr)
        return distribution, None


def implementation_name() -> str:
    from quire.records import implementation

    return implementation.NAME
