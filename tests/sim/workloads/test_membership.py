"""One member and what it is told: a share, belief, refusals; and what it notes of it."""

from __future__ import annotations

import asyncio

from tests.sim.scene import Scene, living
from tests.sim.workloads.test_groups import SETTINGS

from quire.sim.history import Place
from quire.sim.ownership import Ownership
from quire.sim.workloads.membership import ClassicMembership, GroupTerms, committed_offsets
from quire.sim.workloads.work import Line, create_topic

A, B = Place("topic", 0), Place("topic", 1)


async def with_topic(scene: Scene) -> Ownership:
    await create_topic(scene.world(), "topic", 2)
    return Ownership((A, B))


def member(
    scene: Scene, history: Ownership, name: str, *, instance_id: str | None = None
) -> ClassicMembership:
    terms = GroupTerms("group", session_ms=3000, rebalance_ms=3000, instance_id=instance_id)
    return ClassicMembership(name, terms, history, scene.world(), scene.entropy.stream(name))


async def beating(one: ClassicMembership) -> None:
    """As a consumer does that is told to join again."""
    while not one.is_over:
        if not one.is_in:
            await one.enter()
        await one.beat()
        await asyncio.sleep(0.3)


def test_a_member_enters_commits_and_finds_what_it_committed() -> None:
    async def main(scene: Scene) -> None:
        history = await with_topic(scene)
        one = member(scene, history, "one")
        assert await one.enter()
        assert set(one.places) == {A, B}
        assert await one.beat()
        assert one.is_settled
        for _ in range(6):
            await one.commit()
        line = Line(scene.world(), "auditor", "group", 0)
        found = await committed_offsets(scene.world(), line, "group", (A, B))
        assert found is not None
        last: dict[Place, int] = {}
        for accepted in history.accepted:
            last |= accepted.offsets
        assert found.offsets == last
        assert set(last) == {A, B}

    living(main, **SETTINGS)


def test_a_second_member_makes_a_second_generation_and_the_first_is_told() -> None:
    async def main(scene: Scene) -> None:
        history = await with_topic(scene)
        one, two = member(scene, history, "one"), member(scene, history, "two")
        assert await one.enter()
        first = asyncio.ensure_future(beating(one))
        assert await two.enter()
        await asyncio.sleep(1)
        assert one.generation == two.generation > 1
        assert sorted((*one.places, *two.places)) == [A, B]
        one.is_over = True
        await first

    living(main, **SETTINGS)


def test_who_has_left_is_refused_and_noted_as_gone() -> None:
    async def main(scene: Scene) -> None:
        history = await with_topic(scene)
        one = member(scene, history, "one")
        assert await one.enter()
        member_id = one.member_id
        await one.leave()
        assert [gone.member_id for gone in history.gone] == [member_id]
        assert history.accepted == []
        assert not await one.enter()

    living(main, **SETTINGS)


def test_who_freezes_for_longer_than_its_session_is_refused() -> None:
    async def main(scene: Scene) -> None:
        history = await with_topic(scene)
        one = member(scene, history, "one")
        assert await one.enter()
        await asyncio.sleep(6)
        await one.commit()
        assert history.accepted == []
        assert not one.is_in

    living(main, **SETTINGS)


def test_who_takes_the_instance_of_another_keeps_its_share_and_the_other_is_gone() -> None:
    async def main(scene: Scene) -> None:
        history = await with_topic(scene)
        old = member(scene, history, "old", instance_id="static")
        assert await old.enter()
        member_id, generation = old.member_id, old.generation
        new = member(scene, history, "new", instance_id="static")
        assert await new.enter()
        assert (new.generation, set(new.places)) == (generation, {A, B})
        assert [gone.member_id for gone in history.gone] == [member_id]
        await old.commit()
        assert history.accepted == []

    living(main, **SETTINGS)
