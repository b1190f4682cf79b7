from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld

from quire.errors import ErrorCode


def shares(assignment: object) -> dict[str, list[int]]:
    topics = assignment.topic_partitions  # type: ignore[attr-defined]
    return {one.topic_name: list(one.partitions) for one in topics}


def test_members_are_told_with_what_they_have_and_shall_have() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders", instance="i")
    world.consumer("b", "orders")
    world.pass_ms(1_000)
    a.beat()
    group = world.described()
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Reconciling", 3, 3)
    first, second = group.members
    assert (first.member_id, first.instance_id, first.member_epoch) == ("a", "i", 2)
    assert (first.client_id, first.client_host) == ("client", "/127.0.0.1")
    assert (first.subscribed_topic_names, first.subscribed_topic_regex) == (["orders"], "")
    # what it still has to give back is its own
    assert shares(first.assignment) == {"orders": [0, 1, 2, 3]}
    assert shares(first.target_assignment) == {"orders": [0, 1]}
    assert shares(second.assignment) == {}
    assert shares(second.target_assignment) == {"orders": [2, 3]}
    assert [one.member_type for one in group.members] == [1, 1]


def test_topics_that_are_gone_are_left_out() -> None:
    world = ConsumerWorld(orders=1, returns=1)
    world.consumer("a", "orders", "returns")
    world.change_topics(returns=0)
    (member,) = world.described().members
    assert shares(member.assignment) == {"orders": [0]}


def test_other_kinds_and_none_are_not_found() -> None:
    world = ConsumerWorld(orders=1)
    missing = world.described()
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert missing.error_message == "Group g not found."
    world.stable()
    classic = world.described()
    assert classic.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert classic.error_message == "Group g is not a consumer group."
