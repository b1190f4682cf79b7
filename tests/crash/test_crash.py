"""Hundreds of seeds: a log is killed anywhere, loses what was not flushed, and keeps its promises.

QUIRE_CRASH_SEEDS=5000 runs more of them (`make soak`); QUIRE_CRASH_SEED=17 runs one again.
"""

from __future__ import annotations

import os

import pytest
from tests.crash.workload import LostPromiseError, World

SEEDS = int(os.environ.get("QUIRE_CRASH_SEEDS", "400"))
ONE = os.environ.get("QUIRE_CRASH_SEED")
PORTION = 50
LIVES = 4


def attack(seed: int) -> World:
    world = World(seed, compacted=seed % 2 == 1)
    try:
        world.run(LIVES)
    except Exception as broken:
        tail = "\n".join(world.disk.trace.lines[-40:])
        message = f"seed {seed}: {broken!r}\nrun it again: QUIRE_CRASH_SEED={seed} pytest tests/crash\n{tail}"
        raise LostPromiseError(message) from broken
    return world


@pytest.mark.parametrize("first", range(0, SEEDS, PORTION))
def test_a_killed_log_keeps_its_promises(first: int) -> None:
    seeds = [int(ONE)] if ONE else range(first, min(first + PORTION, SEEDS))
    worlds = [attack(seed) for seed in seeds]
    if not ONE:
        assert sum(world.crashes for world in worlds) > len(worlds), "the attack must be one"


def test_the_same_seed_does_the_same_to_the_last_operation() -> None:
    for seed in (4, 5):
        assert attack(seed).disk.trace.digest() == attack(seed).disk.trace.digest()
