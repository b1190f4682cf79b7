"""One transactional producer in both ways of speaking: what it writes, what ends it."""

from __future__ import annotations

import asyncio

import pytest
from tests.sim.scene import Scene, living

from quire.clients.offsets import READ_COMMITTED
from quire.clients.reader import Reader
from quire.sim.history import Place
from quire.sim.workloads.membership import committed_offsets
from quire.sim.workloads.transacting import StartOverError, TransactionalProducer
from quire.sim.workloads.work import Line, create_topic

SETTINGS = {
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": "1",
    "transaction_state_log_replication_factor": "1",
    "transaction_state_log_min_isr": "1",
    "transaction_state_log_num_partitions": "1",
    "transaction_abort_timed_out_transaction_cleanup_interval_ms": "500",
}
A, B = Place("topic", 0), Place("topic", 1)


async def producer(scene: Scene, *, adds_partitions: bool) -> TransactionalProducer:
    await create_topic(scene.world(), "topic", 2)
    async with scene.cluster() as cluster:
        ids = {"topic": (await cluster.topic("topic")).topic_id}
    made = TransactionalProducer(
        "p", scene.world(), ids, timeout_ms=3000, adds_partitions=adds_partitions
    )
    await made.begin()
    await position(scene)  # a client that commits offsets finds their coordinator first
    return made


async def committed(scene: Scene, place: Place) -> list[str]:
    async with scene.cluster() as cluster:
        reader = Reader(cluster, await cluster.topic(place.topic), isolation=READ_COMMITTED)
        found = await reader.fetch({place.partition: 0})
        return [(record.value or b"").decode() for one in found for record in one.records]


async def position(scene: Scene) -> int:
    line = Line(scene.world(), "auditor", "g", 0)
    while True:
        found = await committed_offsets(scene.world(), line, "g", (A,))
        if found is not None:
            return found.offsets[A]
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("adds_partitions", [False, True])
def test_what_is_committed_is_there_with_its_offset_and_what_is_aborted_is_not(
    *, adds_partitions: bool
) -> None:
    async def main(scene: Scene) -> None:
        one = await producer(scene, adds_partitions=adds_partitions)
        for number, is_committed in enumerate((True, False, True)):
            for place in (A, B, A):
                assert await one.write(place, (f"{number}",)) >= 0
            await one.commit_offset("g", A, 10 + number)
            await one.end(committed=is_committed)
        await asyncio.sleep(1)
        assert await committed(scene, A) == ["0", "0", "2", "2"]
        assert await committed(scene, B) == ["0", "2"]
        assert await position(scene) == 12

    living(main, **SETTINGS)


@pytest.mark.parametrize("adds_partitions", [False, True])
def test_who_is_fenced_cannot_write_commit_offsets_or_end(*, adds_partitions: bool) -> None:
    async def main(scene: Scene) -> None:
        old = await producer(scene, adds_partitions=adds_partitions)
        await old.write(A, ("old",))
        new = await producer(scene, adds_partitions=adds_partitions)
        for trying in (
            old.write(A, ("older",)),
            old.write(B, ("older",)),
            old.commit_offset("g", A, 5),
            old.end(committed=True),
        ):
            with pytest.raises(StartOverError):
                await trying
        await new.write(A, ("new",))
        await new.end(committed=True)
        await asyncio.sleep(1)
        assert (await committed(scene, A), await committed(scene, B)) == (["new"], [])
        assert await position(scene) == -1

    living(main, **SETTINGS)


@pytest.mark.parametrize("adds_partitions", [False, True])
def test_who_sleeps_for_longer_than_a_transaction_may_last_must_start_over(
    *, adds_partitions: bool
) -> None:
    async def main(scene: Scene) -> None:
        one = await producer(scene, adds_partitions=adds_partitions)
        await one.write(A, ("late",))
        await asyncio.sleep(6)
        with pytest.raises(StartOverError):
            await one.end(committed=True)
        assert await committed(scene, A) == []

    living(main, **SETTINGS)


@pytest.mark.parametrize("adds_partitions", [False, True])
def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_doubled(
    *, adds_partitions: bool
) -> None:
    async def main(scene: Scene) -> None:
        one = await producer(scene, adds_partitions=adds_partitions)
        await one.write(A, ("first",))
        scene.network.mute("b1", "clients")
        writing = asyncio.ensure_future(one.write(A, ("second",)))
        await asyncio.sleep(1)
        scene.network.unmute("b1", "clients")
        assert await writing == 1
        assert one.was_asked_again
        scene.network.mute("b1", "clients")
        ending = asyncio.ensure_future(one.end(committed=True))
        await asyncio.sleep(1)
        scene.network.unmute("b1", "clients")
        await ending
        await asyncio.sleep(1)
        assert await committed(scene, A) == ["first", "second"]

    living(main, **SETTINGS)
