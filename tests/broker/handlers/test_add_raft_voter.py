from __future__ import annotations

from typing import Any

import pytest
from tests.broker.quorum import DIRECTORY, SomeQuorum
from tests.broker.scene import Scene
from tests.controller.world import CLUSTER_ID

from quire.errors import ErrorCode
from quire.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener


def add(**more: Any) -> AddRaftVoterRequest:
    values: dict[str, Any] = {
        "cluster_id": CLUSTER_ID,
        "timeout_ms": 500,
        "voter_id": 9,
        "voter_directory_id": DIRECTORY,
        "listeners": [Listener(name="CONTROLLER", host="c9", port=9093)],
    }
    return AddRaftVoterRequest(**(values | more))


@pytest.mark.parametrize(("version", "until_committed"), [(0, True), (1, False)])
def test_the_quorum_is_asked_and_its_outcome_told(version: int, until_committed: bool) -> None:
    scene = Scene()
    scene.broker.quorum = quorum = SomeQuorum()
    request = add(ack_when_committed=until_committed)
    response = scene.ask(request, version)
    assert (response.error_code, response.error_message) == (ErrorCode.REQUEST_TIMED_OUT, "slow")
    ((voter, timeout_ms, committed),) = quorum.added
    assert (voter.voter_id, voter.endpoints[0].host, timeout_ms) == (9, "c9", 500)
    assert committed is until_committed


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"cluster_id": "other"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"voter_id": -9}, ErrorCode.INVALID_REQUEST),
        ({"voter_directory_id": bytes(16)}, ErrorCode.INVALID_REQUEST),
        ({"listeners": []}, ErrorCode.INVALID_REQUEST),
        ({"listeners": [Listener(name="X", host="h", port=1)]}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_refused_before_the_quorum_is_asked(more: dict[str, Any], code: ErrorCode) -> None:
    scene = Scene()
    scene.broker.quorum = quorum = SomeQuorum()
    response = scene.ask(add(**more))
    assert response.error_code == code
    assert response.error_message
    assert quorum.added == []


def test_who_does_not_lead_says_so() -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum(leads=False)
    assert scene.ask(add()).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
