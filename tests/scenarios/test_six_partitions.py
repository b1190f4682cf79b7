"""The textbook's group: six partitions over three consumers; one leaves, one joins, in each way of sharing out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.scenarios.member import COUNT, TOPIC, Ledger, Member, assigned, cooperative, read
from tests.sim.scene import Scene, living

from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest

EACH_THEIR_TWO = {
    "range": [[0, 1], [2, 3], [4, 5]],
    "roundrobin": [[0, 3], [1, 4], [2, 5]],
}
TWO_LEFT = {
    "range": [[0, 1, 2], [3, 4, 5]],
    "roundrobin": [[0, 2, 4], [1, 3, 5]],
}


class Crowd:
    """Members of one group on one node."""

    def __init__(self, scene: Scene, protocol: str) -> None:
        self.ledger = Ledger()
        self.members: dict[str, Member] = {}
        self._scene = scene
        self._protocol = protocol
        self._running: dict[str, asyncio.Task[None]] = {}

    async def join(self, *names: str) -> None:
        for name in names:
            cluster = self._scene.cluster(name)
            member = self.members[name] = Member(name, cluster, self.ledger, self._protocol)
            self._running[name] = asyncio.ensure_future(member.run())
        await self.settled()

    async def leave(self, *names: str) -> None:
        for name in names:
            self.members.pop(name).leave()
            await self._running.pop(name)
        await self.settled()

    async def settled(self) -> None:
        """Everybody is in the same generation, every partition has its owner, and that stays so."""
        quiet, before = 0, None
        async with asyncio.timeout(120):
            while quiet < 10:
                for task in self._running.values():
                    if task.done():
                        task.result()
                generations = {one.generation for one in self.members.values()}
                state = (sorted(generations), self.ledger.shares())
                is_whole = len(generations) == 1 and len(self.ledger.owners) == COUNT
                quiet = quiet + 1 if state == before and (is_whole or not self.members) else 0
                before = state
                await asyncio.sleep(0.5)


def told(story: Callable[[Crowd], Awaitable[None]], protocol: str) -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        async with scene.cluster() as cluster:
            six = CreatableTopic(
                name=TOPIC, num_partitions=COUNT, replication_factor=1, assignments=[], configs=[]
            )
            await cluster.ask(CreateTopicsRequest(topics=[six]))
        crowd = Crowd(scene, protocol)
        await story(crowd)
        await crowd.leave(*crowd.members)
        assert crowd.ledger.owners == {}

    living(main, offsets_topic_replication_factor="1", offsets_topic_num_partitions="1")


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_three_have_two_each_two_have_three_and_seven_leave_one_idle(protocol: str) -> None:
    async def story(crowd: Crowd) -> None:
        await crowd.join("a", "b", "c")
        assert crowd.ledger.shares() == EACH_THEIR_TWO[protocol]
        await crowd.leave("b")
        assert crowd.ledger.shares() == TWO_LEFT[protocol]
        await crowd.join("d")
        assert crowd.ledger.shares() == EACH_THEIR_TWO[protocol]
        await crowd.join("e", "f", "g", "h")
        assert crowd.ledger.shares() == [[0], [1], [2], [3], [4], [5]]
        assert [len(one.owned) for one in crowd.members.values()].count(0) == 1

    told(story, protocol)


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_eager_members_all_stop_whenever_one_joins(protocol: str) -> None:
    async def story(crowd: Crowd) -> None:
        await crowd.join("a", "b", "c")
        before = crowd.ledger.revoked
        await crowd.join("d")
        assert crowd.ledger.revoked - before == COUNT

    told(story, protocol)


def test_cooperative_members_give_up_only_what_moves() -> None:
    async def story(crowd: Crowd) -> None:
        ledger = crowd.ledger
        await crowd.join("a", "b", "c")
        assert [len(one) for one in ledger.shares()] == [2, 2, 2]
        before, kept = ledger.revoked, {n: list(m.owned) for n, m in crowd.members.items()}
        await crowd.leave("c")
        assert ledger.revoked - before == 2, "only what c had"
        for name in ("a", "b"):
            assert set(kept[name]) < set(crowd.members[name].owned)
            assert len(crowd.members[name].owned) == 3
        before, kept = ledger.revoked, {n: list(m.owned) for n, m in crowd.members.items()}
        await crowd.join("d")
        assert ledger.revoked - before == 2, "one of each of the two"
        assert [len(one) for one in ledger.shares()] == [2, 2, 2]
        for name in ("a", "b"):
            assert set(crowd.members[name].owned) < set(kept[name])

    told(story, "cooperative-sticky")


def test_a_cooperative_join_takes_two_rounds_because_nobody_is_given_what_another_has() -> None:
    async def story(crowd: Crowd) -> None:
        await crowd.join("a", "b")
        rounds = crowd.members["a"].rounds
        await crowd.join("c")
        assert crowd.members["a"].rounds - rounds == 2

    told(story, "cooperative-sticky")


def test_the_first_round_of_a_cooperative_join_moves_nothing_that_is_held() -> None:
    assert cooperative({"a": [0, 1, 2], "b": [3, 4, 5], "c": []}) == {
        "a": [0, 1],
        "b": [3, 4],
        "c": [],
    }
    assert cooperative({"a": [0, 1], "b": [3, 4], "c": []})["c"] == [2, 5]
    assert read(assigned([4, 1])) == [4, 1]
