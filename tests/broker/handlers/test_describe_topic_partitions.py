from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.broker.permitted import TOPIC_OPERATIONS, UNSAID
from quire.errors import ErrorCode
from quire.protocol.messages import describe_topic_partitions as pages

Cursor = tuple[str, int] | None


def page(
    *names: str, limit: int = 2000, cursor: Cursor = None
) -> pages.DescribeTopicPartitionsRequest:
    return pages.DescribeTopicPartitionsRequest(
        topics=[pages.TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None
        if cursor is None
        else pages.DescribeTopicPartitionsRequestCursor(
            topic_name=cursor[0], partition_index=cursor[1]
        ),
    )


def told(response: pages.DescribeTopicPartitionsResponse) -> tuple[dict[str, list[int]], Cursor]:
    found = {
        str(topic.name): [one.partition_index for one in topic.partitions]
        for topic in response.topics
    }
    cursor = response.next_cursor
    return found, None if cursor is None else (cursor.topic_name, cursor.partition_index)


@pytest.fixture
def scene() -> Scene:
    found = Scene(brokers=2)
    for name, partitions in (("b", 3), ("a", 2), ("c", 1)):
        found.topic(name, partitions, factor=2)
    return found


@pytest.mark.parametrize(
    ("request_", "found", "cursor"),
    [
        (page(), {"a": [0, 1], "b": [0, 1, 2], "c": [0]}, None),
        (page("c", "a", "c"), {"a": [0, 1], "c": [0]}, None),
        (page(limit=2), {"a": [0, 1]}, ("b", 0)),
        (page(limit=3), {"a": [0, 1], "b": [0]}, ("b", 1)),
        (page(limit=6), {"a": [0, 1], "b": [0, 1, 2], "c": [0]}, None),
        (page("a", limit=2), {"a": [0, 1]}, None),
        (page("a", limit=0), {"a": [0]}, ("a", 1)),
        (page("a", limit=-5), {"a": [0]}, ("a", 1)),
        (page(cursor=("b", 1)), {"b": [1, 2], "c": [0]}, None),
        (page("a", "b", cursor=("b", 2)), {"b": [2]}, None),
        (page("b", cursor=("b", 99)), {"b": []}, None),
        (page(cursor=("bb", 0)), {"c": [0]}, None),
    ],
)
def test_pages(
    scene: Scene,
    request_: pages.DescribeTopicPartitionsRequest,
    found: dict[str, list[int]],
    cursor: Cursor,
) -> None:
    assert told(scene.ask(request_)) == (found, cursor)


def test_the_brokers_own_limit_counts_too() -> None:
    scene = Scene(max_request_partition_size_limit="2")
    scene.topic("a", 5)
    assert told(scene.ask(page("a"))) == ({"a": [0, 1]}, ("a", 2))


def test_what_is_not_there_takes_no_room(scene: Scene) -> None:
    response = scene.ask(page("0", " b", "a", limit=2))
    assert {one.name: one.error_code for one in response.topics} == {
        "0": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        " b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "a": ErrorCode.NONE,
    }
    assert {one.topic_authorized_operations for one in response.topics} == {TOPIC_OPERATIONS}


@pytest.mark.parametrize("cursor", [("a", -1), ("b", 0)])
def test_a_cursor_outside_of_what_was_asked(scene: Scene, cursor: Cursor) -> None:
    (topic,) = scene.ask(page("a", cursor=cursor)).topics
    assert (topic.error_code, topic.partitions) == (ErrorCode.INVALID_REQUEST, [])
    assert topic.topic_authorized_operations == UNSAID


def test_who_is_eligible_is_told(scene: Scene) -> None:
    scene.topic("d", 1, 2, min_insync_replicas="2")
    scene.world.lose(2)
    scene.catch_up()
    (topic,) = scene.ask(page("d")).topics
    (partition,) = topic.partitions
    assert (partition.isr_nodes, partition.eligible_leader_replicas) == ([1], [2])
    assert partition.offline_replicas == [2]
