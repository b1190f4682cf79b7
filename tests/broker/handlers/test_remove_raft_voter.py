from __future__ import annotations

from typing import Any

import pytest
from tests.broker.quorum import DIRECTORY, SomeQuorum
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest


def remove(**more: Any) -> RemoveRaftVoterRequest:
    values: dict[str, Any] = {"cluster_id": None, "voter_id": 1, "voter_directory_id": DIRECTORY}
    return RemoveRaftVoterRequest(**(values | more))


def test_the_quorum_is_asked() -> None:
    scene = Scene()
    scene.broker.quorum = quorum = SomeQuorum()
    assert scene.ask(remove()).error_code == ErrorCode.NONE
    assert quorum.removed == [(1, DIRECTORY)]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"cluster_id": "other"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"voter_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"voter_directory_id": bytes(16)}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_refused_before_the_quorum_is_asked(more: dict[str, Any], code: ErrorCode) -> None:
    scene = Scene()
    scene.broker.quorum = quorum = SomeQuorum()
    assert scene.ask(remove(**more)).error_code == code
    assert quorum.removed == []


def test_who_does_not_lead_says_so() -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum(leads=False)
    assert scene.ask(remove()).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
