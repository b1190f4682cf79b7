from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages.list_groups import ListGroupsRequest


@pytest.mark.parametrize("version", range(6))
def test_the_groups_of_all_partitions_here_are_listed_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        await desk.member()
        for name in ("a", "b", "c"):
            await desk.commit(1, group_id=name)
        answer = await desk.ask(ListGroupsRequest(), version)
        assert answer.error_code == ErrorCode.NONE
        found = {one.group_id: (one.group_state, one.group_type) for one in answer.groups}
        empty = ("Empty" if version >= 4 else "", "classic" if version >= 5 else "")
        stable = ("Stable" if version >= 4 else "", empty[1])
        assert found == {"g": stable, "a": empty, "b": empty, "c": empty}

    at_desk(story)


def test_filters_do_not_mind_the_case() -> None:
    async def story(desk: Desk) -> None:
        await desk.member()
        await desk.commit(1, group_id="a")
        for states, types, expected in (
            (["stable"], [], ["g"]),
            (["EMPTY", "Dead"], ["Classic"], ["a"]),
            ([], ["consumer"], []),
        ):
            request = ListGroupsRequest(states_filter=states, types_filter=types)
            answer = await desk.ask(request, 5)
            assert [one.group_id for one in answer.groups] == expected

    at_desk(story)


def test_a_list_that_would_not_be_whole_is_refused() -> None:
    async def story(desk: Desk) -> None:
        await desk.commit(1)
        desk.take_over()
        answer = await desk.ask(ListGroupsRequest(), 5)
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    at_desk(story)


def test_who_coordinates_nothing_has_an_empty_list() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(ListGroupsRequest(), 5)
        assert (answer.error_code, answer.groups) == (ErrorCode.NONE, [])

    at_desk(story, partitions=0)
