from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.broker.coordinators import partition_of
from quire.broker.internal_topics import OFFSETS, SHARES, TRANSACTIONS
from quire.errors import ErrorCode
from quire.protocol.messages.find_coordinator import FindCoordinatorRequest

ONE_EACH = {
    "offsets_topic_replication_factor": "1",
    "transaction_state_log_replication_factor": "1",
    "share_coordinator_state_topic_replication_factor": "1",
}


def asked(scene: Scene, key_type: int, *keys: str, version: int = 6) -> list[Any]:
    if version >= 4:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys))
        return list(scene.ask(request, version).coordinators)
    request = FindCoordinatorRequest(key_type=key_type, key=keys[0])
    return [scene.ask(request, version)]


@pytest.mark.parametrize("version", range(7))
def test_the_leader_of_the_key_s_partition_coordinates_it(version: int) -> None:
    scene = Scene(brokers=3, offsets_topic_replication_factor="3")
    asked(scene, 0, "g")
    leaders = scene.broker.image.topics[OFFSETS].partitions
    for key in ("g", "h", "some-group"):
        (found,) = asked(scene, 0, key, version=version)
        leader = leaders[partition_of(key, 50)].leader
        assert (found.error_code, found.node_id, found.host) == (0, leader, "127.0.0.1")
        assert found.port == 9092 + leader


@pytest.mark.parametrize(
    ("key_type", "topic", "key"),
    [
        (0, OFFSETS, "g"),
        (1, TRANSACTIONS, "tx"),
        (2, SHARES, "g:AAAAAAAAAAAAAAAAAAAAAA:0"),
    ],
)
def test_the_topic_is_made_by_the_first_who_asks(key_type: int, topic: str, key: str) -> None:
    scene = Scene(**ONE_EACH)
    (first,) = asked(scene, key_type, key)
    assert first.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (first.node_id, first.host, first.port) == (-1, "", -1)
    assert len(scene.broker.image.topics[topic].partitions) == 50
    (second,) = asked(scene, key_type, key)
    assert (second.error_code, second.node_id, second.key) == (0, 1, key)


def test_a_topic_that_cannot_be_made_stays_unavailable() -> None:
    scene = Scene(offsets_topic_replication_factor="3")
    for _ in range(2):
        (found,) = asked(scene, 0, "g")
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert OFFSETS not in scene.broker.image.topics


def test_several_keys_are_answered_each() -> None:
    scene = Scene(**ONE_EACH)
    asked(scene, 0, "g")
    found = asked(scene, 0, "a", "b", "a")
    assert [(one.key, one.error_code) for one in found] == [("a", 0), ("b", 0), ("a", 0)]
    assert asked(scene, 0) == []


def test_strange_kinds_and_share_keys_that_are_none_are_refused() -> None:
    scene = Scene(**ONE_EACH)
    asked(scene, 2, "g:AAAAAAAAAAAAAAAAAAAAAA:0")
    for key_type, key, version in ((3, "g", 6), (2, "g", 6), (2, "g:x:y", 6), (2, "g:x:0", 5)):
        (found,) = asked(scene, key_type, key, version=version)
        assert found.error_code == ErrorCode.INVALID_REQUEST
    (old,) = asked(scene, 9, "g", version=1)
    assert old.error_code == ErrorCode.INVALID_REQUEST


def test_a_share_key_that_is_none_makes_no_topic() -> None:
    scene = Scene(**ONE_EACH)
    (found,) = asked(scene, 2, "g")
    assert found.error_code == ErrorCode.INVALID_REQUEST
    assert SHARES not in scene.broker.image.topics
