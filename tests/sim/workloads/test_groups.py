"""Groups on a calm node: everybody settles, what is committed is found, and a world's plan follows from its seed."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from tests.sim.scene import Scene, living

from quire.sim.entropy import SeededEntropy
from quire.sim.nemesis import WEIGHTS
from quire.sim.ownership import Ownership
from quire.sim.workloads.groups import GroupsWorkload, plan
from quire.sim.workloads.work import FAULTS_WITHOUT_LOSS

SETTINGS = {
    "group_min_session_timeout_ms": "500",
    "group_initial_rebalance_delay_ms": "300",
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": "1",
}


def calm_run(seed: int, seconds: float) -> tuple[GroupsWorkload, Ownership]:
    async def main(scene: Scene) -> GroupsWorkload:
        work = GroupsWorkload(scene.world(), scene.entropy.stream("work"))
        calm = cast("asyncio.Task[None]", asyncio.ensure_future(asyncio.sleep(seconds)))
        await work.run(calm)
        work.judge()
        return work

    work: GroupsWorkload = living(main, seed=seed, **SETTINGS)
    return work, work.history


@pytest.mark.parametrize("seed", range(3))
def test_on_a_calm_node_members_come_and_go_and_all_that_are_left_settle(seed: int) -> None:
    work, history = calm_run(seed, 20.0)
    assert work.acknowledged() > 10
    assert len({one.generation for one in history.assigned}) > 2, "they came and went"
    assert len(history.found) > 20
    generations = {generation for generation, _ in history.settled.values()}
    assert generations == {max(one.generation for one in history.assigned)}
    assert max(history.after_restart.values()) > 0


def test_without_events_nobody_is_expelled() -> None:
    _, history = calm_run(5, 0.0)
    assert history.gone == []
    assert len({one.generation for one in history.assigned}) <= 3


def test_plans_differ_by_seed_and_stay_within_their_bounds() -> None:
    plans = [plan(SeededEntropy(seed)) for seed in range(60)]
    assert plans[7] == plan(SeededEntropy(7))
    assert {one.is_durable for one in plans} == {False, True}
    assert {len(one.terms) for one in plans} == {2, 3, 4, 5}
    assert {terms.instance_id is None for one in plans for terms in one.terms} == {False, True}


def test_only_where_answers_wait_for_the_disk_power_may_be_lost() -> None:
    async def main(scene: Scene) -> None:
        for seed in range(8):
            work = GroupsWorkload(scene.world(), SeededEntropy(seed))
            is_durable = "quire.log.fsync.before.ack" in work.settings()
            assert is_durable is work.plan.is_durable
            assert work.faults() == (WEIGHTS if is_durable else FAULTS_WITHOUT_LOSS)

    living(main)
