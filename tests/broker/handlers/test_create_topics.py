from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import create_topics as creating


def topic(name: str, partitions: int = 1, **more: Any) -> creating.CreatableTopic:
    values: dict[str, Any] = {"replication_factor": 1, "assignments": [], "configs": []}
    return creating.CreatableTopic(name=name, num_partitions=partitions, **(values | more))


def create(*topics: creating.CreatableTopic, **more: Any) -> creating.CreateTopicsRequest:
    return creating.CreateTopicsRequest(topics=list(topics), **more)


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_is_made_in_every_version(version: int) -> None:
    scene = Scene()
    (result,) = scene.ask(create(topic("a", 3)), version).topics
    assert (result.name, result.error_code) == ("a", ErrorCode.NONE)
    assert len(scene.world.image.topics["a"].partitions) == 3
    assert (result.topic_id == scene.world.image.topics["a"].topic_id) == (version >= 7)
    assert result.num_partitions == (3 if version >= 5 else -1)
    assert len(result.configs) == (33 if version >= 5 else 0)


def test_validate_only_makes_nothing() -> None:
    scene = Scene()
    (result,) = scene.ask(create(topic("a"), validate_only=True)).topics
    assert result.error_code == ErrorCode.NONE
    assert not scene.world.image.topics


def test_a_bad_setting_is_refused_with_words_about_it() -> None:
    bad = [creating.CreatableTopicConfig(name="retention.ms", value="soon")]
    (result,) = Scene().ask(create(topic("a", configs=bad))).topics
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert "retention.ms" in result.error_message


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_nothing_is_made(timeout_ms: int) -> None:
    scene = Scene()
    asked = create(topic("a"), topic("a"), topic("a b"), timeout_ms=timeout_ms)
    results = scene.ask(asked).topics
    assert [one.name for one in results] == ["a", "a", "a b"]
    assert {one.error_code for one in results} == {ErrorCode.REQUEST_TIMED_OUT}
    assert not scene.world.image.topics


def test_who_is_over_the_limit_is_refused_and_what_is_refused_anyhow_does_not_count() -> None:
    scene = Scene()
    scene.limit("controller_mutation_rate", 1.0)
    asked = create(topic("bad name", 50), topic("a", 12), topic("b", 1), topic("c", 1))
    response = scene.ask(asked)
    assert {one.name: one.error_code for one in response.topics} == {
        "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "a": ErrorCode.NONE,
        "b": ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        "c": ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
    assert response.throttle_time_ms == 1000
    assert list(scene.world.image.topics) == ["a"]


def test_older_clients_are_only_slowed_down() -> None:
    scene = Scene()
    scene.limit("controller_mutation_rate", 1.0)
    response = scene.ask(create(topic("a", 12), topic("b", 3)), 5)
    assert {one.error_code for one in response.topics} == {ErrorCode.NONE}
    assert response.throttle_time_ms == 4000
