"""Consumer groups in one data directory, coordinated by Quire, by Apache Kafka, and by Quire again.

Each finds the members, what they hold, and the offsets that the other left. Whoever takes over finds another metadata
hash than its own, and makes one more epoch, in which nothing moves.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.compat.differential.conversation import Conversation
from tests.interop.kafka import Kafka, require_java
from tests.interop.quire_node import QuireNode

from quire.protocol.messages import consumer_group_describe as describing
from quire.protocol.messages import consumer_group_heartbeat as heartbeating
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching

pytestmark = [pytest.mark.peer, pytest.mark.slow]

GROUP, TOPIC = "changing-hands", "orders"
PATIENCE_SECONDS = 30
WAITS = frozenset({14, 15, 16})


class Members:
    """Two members that speak to whoever coordinates; one of them is static, one subscribes by pattern."""

    def __init__(self, port: int) -> None:
        self.conversation = Conversation(port)
        self.patiently(
            finding.FindCoordinatorRequest(coordinator_keys=[GROUP]),
            6,
            lambda answer: answer.coordinators[0].error_code,
        )

    def create_topic(self) -> None:
        wanted = creating.CreatableTopic(
            name=TOPIC, num_partitions=4, replication_factor=1, assignments=[], configs=[]
        )
        answer = self.conversation.ask(creating.CreateTopicsRequest(topics=[wanted]), 7)
        assert answer.topics[0].error_code == 0

    def patiently(self, request: Any, version: int, code: Any) -> Any:
        """The answer of a coordinator that has read what there is."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while code(answer := self.conversation.ask(request, version)) in WAITS:
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)
        return answer

    def beat(self, member_id: str, epoch: int, **how: Any) -> Any:
        instance = "i-1" if member_id == "static" else None
        return self.patiently(
            heartbeating.ConsumerGroupHeartbeatRequest(
                group_id=GROUP, member_id=member_id, member_epoch=epoch, instance_id=instance, **how
            ),
            1,
            lambda answer: answer.error_code,
        )

    def settle(self, epoch: int) -> tuple[dict[str, list[int]], int]:
        """What each holds when nothing changes any more, and their epoch."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        epochs = {"static": epoch, "pattern": epoch}
        held = self.held()
        while True:
            for member_id, known in list(epochs.items()):
                owned = [
                    heartbeating.ConsumerGroupHeartbeatRequestTopicPartitions(
                        topic_id=self.topic_id, partitions=held[member_id]
                    )
                ]
                answer = self.beat(member_id, known, topic_partitions=owned)
                assert answer.error_code == 0, answer
                epochs[member_id] = answer.member_epoch
                if answer.assignment is not None:
                    held[member_id] = [
                        one for t in answer.assignment.topic_partitions for one in t.partitions
                    ]
            group = self.described()
            if group.group_state == "Stable" and len(set(epochs.values())) == 1:
                return held, epochs["static"]
            assert time.monotonic() < deadline, group
            time.sleep(0.2)

    def held(self) -> dict[str, list[int]]:
        found = {}
        for one in self.described().members:
            partitions: list[int] = []
            for topic in one.assignment.topic_partitions:
                self.topic_id = topic.topic_id
                partitions += topic.partitions
            found[one.member_id] = sorted(partitions)
        return found

    def described(self) -> Any:
        request = describing.ConsumerGroupDescribeRequest(
            group_ids=[GROUP], include_authorized_operations=False
        )
        answer = self.patiently(request, 1, lambda answer: answer.groups[0].error_code)
        return answer.groups[0]

    def commit(self, member_id: str, epoch: int, partition: int, offset: int) -> int:
        wanted = committing.OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        topic = committing.OffsetCommitRequestTopic(topic_id=self.topic_id, partitions=[wanted])
        request = committing.OffsetCommitRequest(
            group_id=GROUP, member_id=member_id, generation_id_or_member_epoch=epoch, topics=[topic]
        )
        code: int = self.conversation.ask(request, 10).topics[0].partitions[0].error_code
        return code

    def committed(self) -> list[int]:
        asked = fetching.OffsetFetchRequestGroup(group_id=GROUP, topics=None)
        answer = self.conversation.ask(fetching.OffsetFetchRequest(groups=[asked]), 9)
        return sorted(one.committed_offset for one in answer.groups[0].topics[0].partitions)

    def hang_up(self) -> None:
        self.conversation.hang_up()


def test_consumers_and_offsets_go_from_quire_to_kafka_and_back(tmp_path: Path) -> None:
    require_java()
    quire = QuireNode(tmp_path)
    kafka = Kafka(tmp_path / "kafka", quire.data)
    kafka.properties, kafka.port, kafka.bootstrap = quire.properties, quire.port, quire.bootstrap
    quire.format()

    with quire.running():
        members = Members(quire.port)
        members.create_topic()
        join: dict[str, Any] = {"rebalance_timeout_ms": 10_000, "topic_partitions": []}
        first = members.beat("static", 0, subscribed_topic_names=[TOPIC], **join)
        assert first.member_epoch == 2
        second = members.beat("pattern", 0, subscribed_topic_regex="ord.*", **join)
        held, epoch = members.settle(second.member_epoch)
        assert sorted(map(len, held.values())) == [2, 2]
        assert members.commit("static", epoch, held["static"][0], 41) == 0
        members.hang_up()

    for server, offset in ((kafka, 42), (quire, 43)):
        with server.running():
            members = Members(server.port)
            assert members.held() == held
            described = {one.member_id: one for one in members.described().members}
            assert described["static"].instance_id == "i-1"
            assert described["pattern"].subscribed_topic_regex == "ord.*"
            assert members.committed()[-1] == offset - 1
            assert members.commit("static", epoch, held["static"][0], offset) == 0
            after, later = members.settle(epoch)
            assert (after, later - epoch <= 1) == (held, True)
            epoch = later
            members.hang_up()

    with kafka.running():
        members = Members(kafka.port)
        assert members.beat("static", -2).member_epoch == -2
        assert members.beat("pattern", -1).member_epoch == -1
        members.hang_up()
    with quire.running():
        members = Members(quire.port)
        (left,) = members.described().members
        assert (left.member_id, left.member_epoch) == ("static", -2)
        again = members.beat(
            "static", 0, subscribed_topic_names=[TOPIC], rebalance_timeout_ms=1, topic_partitions=[]
        )
        assert again.error_code == 0
        assert members.committed() == [43]
        members.hang_up()
