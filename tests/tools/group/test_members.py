from __future__ import annotations

import pytest
from tests.tools.group.scripts import A, B, assignment, described, group, member
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.protocol.apis import ApiKey
from quire.protocol.messages import consumer_group_describe as newer
from quire.tools.group.members import assigned, find_group
from quire.types import TopicPartition


def consumer_group(error: int = 0):
    def answer(request, _version):
        place = newer.TopicPartitions(topic_id=b"1" * 16, topic_name="orders", partitions=[0, 2])
        one = newer.Member(
            member_id="m", member_epoch=3, client_id="c", client_host="/10.0.0.1",
            subscribed_topic_names=["orders"],
            assignment=newer.Assignment(topic_partitions=[place]),
            target_assignment=newer.Assignment(topic_partitions=[]),
        )  # fmt: skip
        found = newer.DescribedGroup(
            error_code=error, group_id=request.group_ids[0], group_state="Stable", group_epoch=4,
            assignment_epoch=4, assignor_name="uniform", members=[] if error else [one],
        )  # fmt: skip
        return newer.ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=[found])

    return answer


def test_a_classic_group_tells_who_has_what() -> None:
    scripts = group(DESCRIBE_GROUPS=described([member("m", A, B), member("idle")]))
    found, _ = asked(lambda cluster: find_group(cluster, "g"), scripts)
    assert (found.state, found.type, found.protocol) == ("Stable", "classic", "range")
    first, idle = found.members
    assert str(first) == "m (client-m, 10.0.0.1)"
    assert found.owners() == {TopicPartition(*A): first, TopicPartition(*B): first}
    assert idle.partitions == ()


def test_a_coordinator_that_knows_consumer_groups_is_asked_for_one_first() -> None:
    scripts = group(CONSUMER_GROUP_DESCRIBE=consumer_group())
    del scripts[ApiKey.API_VERSIONS]
    found, _ = asked(lambda cluster: find_group(cluster, "g"), scripts)
    assert (found.type, found.protocol, found.epoch) == ("consumer", "uniform", 4)
    (one,) = found.members
    assert one.partitions == (TopicPartition("orders", 0), TopicPartition("orders", 2))


def test_what_is_no_consumer_group_there_is_a_classic_one() -> None:
    scripts = group(CONSUMER_GROUP_DESCRIBE=consumer_group(error=69))
    del scripts[ApiKey.API_VERSIONS]
    found, _ = asked(lambda cluster: find_group(cluster, "g"), scripts)
    assert (found.type, found.state) == ("classic", "Empty")


@pytest.mark.parametrize("answer", [described(error=69), described(state="Dead")])
def test_a_group_that_is_not_there_is_told_so(answer) -> None:
    with pytest.raises(AnswerError, match="group g: GROUP_ID_NOT_FOUND"):
        asked(lambda cluster: find_group(cluster, "g"), group(DESCRIBE_GROUPS=answer))


def test_an_assignment_is_read_at_its_version_or_not_at_all() -> None:
    assert assigned(assignment(A)) == (TopicPartition(*A),)
    assert assigned((9).to_bytes(2) + assignment(A)[2:]) == (TopicPartition(*A),)
    assert assigned(b"") == assigned(b"\0\1\0") == assigned(b"\0\0\xff\xff\xff\xff\0\0\0\0") == ()
