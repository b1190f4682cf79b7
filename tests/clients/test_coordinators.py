from __future__ import annotations

import pytest
from tests.clients.peer import versions
from tests.tools.group.scripts import coordinator
from tests.tools.scene import asked

from quire.clients.coordinators import Kind, ask_coordinator, ask_everybody, coordinator_of
from quire.clients.errors import AnswerError, expect
from quire.errors import ErrorCode
from quire.protocol.apis import ApiKey
from quire.protocol.messages.find_coordinator import FindCoordinatorResponse
from quire.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

NOT_YET = ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_coordinator_that_is_not_there_yet_is_waited_for() -> None:
    found, requests = asked(
        lambda cluster: coordinator_of(cluster, Kind.GROUP, "g"),
        {ApiKey.FIND_COORDINATOR: coordinator(NOT_YET, NOT_YET)},
    )
    assert found == 1
    assert len(requests) == 3


def test_nobody_waits_for_ever_and_what_waiting_does_not_mend_is_told_at_once() -> None:
    absent = coordinator(*[NOT_YET] * 1000)
    with pytest.raises(
        AnswerError, match="the coordinator of transaction t: COORDINATOR_NOT_AVAIL"
    ):
        asked(
            lambda cluster: coordinator_of(cluster, Kind.TRANSACTION, "t"),
            {ApiKey.FIND_COORDINATOR: absent},
        )
    with pytest.raises(AnswerError, match="GROUP_AUTHORIZATION_FAILED"):
        asked(
            lambda cluster: coordinator_of(cluster, Kind.GROUP, "g"),
            {ApiKey.FIND_COORDINATOR: coordinator(ErrorCode.GROUP_AUTHORIZATION_FAILED)},
        )


def test_old_brokers_are_asked_for_one_key() -> None:
    found, (request,) = asked(
        lambda cluster: coordinator_of(cluster, Kind.GROUP, "g"),
        {
            ApiKey.API_VERSIONS: lambda _request, _version: versions(FindCoordinator=3),
            ApiKey.FIND_COORDINATOR: lambda _request, _version: FindCoordinatorResponse(node_id=1),
        },
    )
    assert (found, request.key) == (1, "g")


def test_a_coordinator_that_moved_meanwhile_is_looked_up_again() -> None:
    codes = [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NONE]

    async def ask(node_id: int) -> int:
        expect(codes.pop(0), "x")
        return node_id

    found, requests = asked(
        lambda cluster: ask_coordinator(cluster, Kind.GROUP, "g", ask),
        {ApiKey.FIND_COORDINATOR: coordinator()},
    )
    assert (found, len(requests)) == (1, 3)


def test_every_broker_is_asked_until_it_has_read_its_log() -> None:
    codes = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NONE]

    def answer(_request, _version):
        return ListGroupsResponse(error_code=codes.pop(0), groups=[])

    found, requests = asked(
        lambda cluster: ask_everybody(cluster, ListGroupsRequest(), "the groups"),
        {ApiKey.LIST_GROUPS: answer},
    )
    assert list(found) == [1]
    assert len(requests) == 2
