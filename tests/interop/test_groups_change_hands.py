"""Groups in one data directory, coordinated by Quire, by Apache Kafka, and by Quire again.

Each finds the members, shares and offsets that the other left, and goes on from there.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.compat.differential.conversation import Conversation
from tests.interop.kafka import Kafka, require_java
from tests.interop.quire_node import QuireNode

from quire.protocol.messages import describe_groups as describing
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import heartbeat as beating
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import sync_group as syncing

pytestmark = [pytest.mark.peer, pytest.mark.slow]

GROUP, TOPIC = "changing-hands", "orders"
SESSION_MS = 600_000
PATIENCE_SECONDS = 30


class Member:
    """A static member that speaks to whoever coordinates."""

    def __init__(self, port: int) -> None:
        self.conversation = Conversation(port)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (
            self.ask(finding.FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)
            .coordinators[0]
            .error_code
        ):
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def ask(self, request: Any, version: int) -> Any:
        return self.conversation.ask(request, version)

    def join(self) -> Any:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.ask(
                joining.JoinGroupRequest(
                    group_id=GROUP,
                    session_timeout_ms=SESSION_MS,
                    rebalance_timeout_ms=10_000,
                    member_id="",
                    group_instance_id="i-1",
                    protocol_type="consumer",
                    protocols=[
                        joining.JoinGroupRequestProtocol(name="range", metadata=b"\0\0" + b"\0" * 8)
                    ],
                ),
                9,
            )
            if answer.error_code == 0:
                return answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)

    def sync(self, member_id: str, generation: int, share: bytes = b"") -> Any:
        assignment = syncing.SyncGroupRequestAssignment(member_id=member_id, assignment=share)
        return self.ask(
            syncing.SyncGroupRequest(
                group_id=GROUP,
                generation_id=generation,
                member_id=member_id,
                group_instance_id="i-1",
                protocol_type="consumer",
                protocol_name="range",
                assignments=[assignment] if share else [],
            ),
            5,
        )

    def commit(self, member_id: str, generation: int, offset: int, note: str) -> int:
        answer = self.ask(
            committing.OffsetCommitRequest(
                group_id=GROUP,
                generation_id_or_member_epoch=generation,
                member_id=member_id,
                group_instance_id="i-1",
                topics=[
                    committing.OffsetCommitRequestTopic(
                        name=TOPIC,
                        partitions=[
                            committing.OffsetCommitRequestPartition(
                                partition_index=0,
                                committed_offset=offset,
                                committed_metadata=note,
                            )
                        ],
                    )
                ],
            ),
            9,
        )
        code: int = answer.topics[0].partitions[0].error_code
        return code

    def committed(self) -> tuple[int, str]:
        asked = fetching.OffsetFetchRequestGroup(group_id=GROUP, topics=None)
        (group,) = self.ask(fetching.OffsetFetchRequest(groups=[asked]), 9).groups
        (found,) = group.topics[0].partitions
        return found.committed_offset, found.metadata

    def state(self) -> str:
        """Once whoever coordinates has read what there is."""
        asked = describing.DescribeGroupsRequest(groups=[GROUP])
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            (group,) = self.ask(asked, 6).groups
            if group.error_code == 0:
                state: str = group.group_state
                return state
            assert time.monotonic() < deadline, group
            time.sleep(0.1)

    def heartbeat(self, member_id: str, generation: int) -> int:
        request = beating.HeartbeatRequest(
            group_id=GROUP,
            generation_id=generation,
            member_id=member_id,
            group_instance_id="i-1",
        )
        code: int = self.ask(request, 4).error_code
        return code

    def hang_up(self) -> None:
        self.conversation.hang_up()


def test_members_and_offsets_go_from_quire_to_kafka_and_back(tmp_path: Path) -> None:
    require_java()
    quire = QuireNode(tmp_path)
    kafka = Kafka(tmp_path / "kafka", quire.data)
    kafka.properties, kafka.port, kafka.bootstrap = quire.properties, quire.port, quire.bootstrap
    quire.format()

    with quire.running():
        kafka.create_topic(TOPIC)
        member = Member(quire.port)
        member_id = member.join().member_id
        assert member.sync(member_id, 1, b"all of it").assignment == b"all of it"
        assert member.commit(member_id, 1, 41, "by quire") == 0
        member.hang_up()

    with kafka.running():
        member = Member(kafka.port)
        assert (member.state(), member.committed()) == ("Stable", (41, "by quire"))
        assert member.heartbeat(member_id, 1) == 0
        again = member.join()
        assert (again.generation_id, again.skip_assignment) == (1, True)
        assert member.sync(again.member_id, 1).assignment == b"all of it"
        assert member.commit(again.member_id, 1, 42, "by kafka") == 0
        member.hang_up()

    with quire.running():
        member = Member(quire.port)
        assert (member.state(), member.committed()) == ("Stable", (42, "by kafka"))
        assert member.heartbeat(again.member_id, 1) == 0
        assert member.sync(again.member_id, 1).assignment == b"all of it"
        member.hang_up()
