from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import delete_topics as deleting


def delete(version: int, *names: str, timeout_ms: int = 1000) -> deleting.DeleteTopicsRequest:
    if version < 6:
        return deleting.DeleteTopicsRequest(topic_names=list(names), timeout_ms=timeout_ms)
    topics = [deleting.DeleteTopicState(name=name, topic_id=bytes(16)) for name in names]
    return deleting.DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms)


@pytest.mark.parametrize("version", range(1, 7))
def test_a_topic_goes_in_every_version(version: int) -> None:
    scene = Scene()
    topic_id = scene.topic("a")
    found = scene.ask(delete(version, "a", "b"), version).responses
    assert {one.name: one.error_code for one in found} == {
        "a": ErrorCode.NONE,
        "b": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert (found[0].topic_id == topic_id) == (version >= 6)
    assert not scene.world.image.topics


def test_a_topic_goes_by_its_id() -> None:
    scene = Scene()
    topic_id = scene.topic("a")
    request = deleting.DeleteTopicsRequest(
        topics=[deleting.DeleteTopicState(name=None, topic_id=topic_id)], timeout_ms=1000
    )
    (found,) = scene.ask(request).responses
    assert (found.name, found.error_code) == ("a", ErrorCode.NONE)


def test_deletion_can_be_switched_off() -> None:
    scene = Scene(delete_topic_enable="false")
    scene.topic("a")
    (found,) = scene.ask(delete(6, "a")).responses
    assert found.error_code == ErrorCode.TOPIC_DELETION_DISABLED


def test_without_time_nothing_goes() -> None:
    scene = Scene()
    scene.topic("a")
    found = scene.ask(delete(6, "a", "b", timeout_ms=0)).responses
    assert [one.error_code for one in found] == [ErrorCode.REQUEST_TIMED_OUT] * 2
    assert "a" in scene.world.image.topics


@pytest.mark.parametrize(("version", "is_refused"), [(4, False), (5, True), (6, True)])
def test_who_is_over_the_limit_is_refused_or_slowed_down(version: int, is_refused: bool) -> None:
    scene = Scene()
    for name in ("a", "b"):
        scene.topic(name, partitions=20)
    scene.limit("controller_mutation_rate", 1.0)
    response = scene.ask(delete(version, "a", "b", "c"), version)
    codes = {one.name: one.error_code for one in response.responses}
    assert codes == {
        "a": ErrorCode.NONE,
        "b": ErrorCode.THROTTLING_QUOTA_EXCEEDED if is_refused else ErrorCode.NONE,
        "c": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert response.throttle_time_ms == (9000 if is_refused else 29_000)
    assert list(scene.world.image.topics) == (["b"] if is_refused else [])


def test_who_is_over_the_limit_is_refused_by_id_too() -> None:
    scene = Scene()
    ids = [scene.topic(name, partitions=20) for name in ("a", "b")]
    scene.limit("controller_mutation_rate", 1.0)
    request = deleting.DeleteTopicsRequest(
        topics=[deleting.DeleteTopicState(name=None, topic_id=one) for one in ids], timeout_ms=1000
    )
    found = {one.topic_id: one.error_code for one in scene.ask(request).responses}
    assert found == {ids[0]: 0, ids[1]: ErrorCode.THROTTLING_QUOTA_EXCEEDED}
