"""Transactions on a calm node: every kind of ending comes up, all laws hold, and a plan follows from its seed."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from tests.sim.scene import Scene, living
from tests.sim.workloads.test_transacting import SETTINGS

from quire.sim.atomicity import Atomicity, Ending
from quire.sim.entropy import SeededEntropy
from quire.sim.workloads.transactions import TransactionsWorkload, plan


@pytest.mark.parametrize("seed", range(3))
def test_on_a_calm_node_all_laws_hold_and_much_is_committed(seed: int) -> None:
    async def main(scene: Scene) -> TransactionsWorkload:
        work = TransactionsWorkload(scene.world(), scene.entropy.stream("work"))
        calm = cast("asyncio.Task[None]", asyncio.ensure_future(asyncio.sleep(20)))
        await work.run(calm)
        work.judge()
        return work

    work: TransactionsWorkload = living(main, seed=seed, **SETTINGS)
    history: Atomicity = work.history
    endings = [one.ending for one in history.attempts]
    assert endings.count(Ending.COMMITTED) == work.acknowledged() > 15
    assert endings.count(Ending.ABORTED) > 3
    deserters = {f"producer-{work.plan.producers - 1}"} if work.plan.has_deserter else set()
    left_open = [one.producer for one in history.attempts if one.ending is Ending.OPEN]
    assert set(left_open) <= deserters, "whoever is not gone for ever ends what it began"
    assert len(left_open) <= len(deserters)
    assert len(history.fences) > work.plan.producers, "some were taken over, or ran out of time"
    assert sum(len(one.reads) for one in history.following.values()) > 60
    assert max(history.positions.values()) > 10


def test_plans_differ_by_seed_and_stay_within_their_bounds() -> None:
    plans = [plan(SeededEntropy(seed)) for seed in range(60)]
    assert plans[7] == plan(SeededEntropy(7))
    assert {one.is_durable for one in plans} == {one.has_deserter for one in plans} == {False, True}
    assert {one.producers for one in plans} == {2, 3, 4}
    assert {len(one.topics) for one in plans} == {1, 2, 3}


def test_where_only_time_ends_a_transaction_clocks_do_not_jump() -> None:
    async def main(scene: Scene) -> None:
        for seed in range(8):
            work = TransactionsWorkload(scene.world(), SeededEntropy(seed))
            assert ("jump" in work.faults()) is not work.plan.has_deserter
            assert ("power loss" in work.faults()) is work.plan.is_durable

    living(main)
