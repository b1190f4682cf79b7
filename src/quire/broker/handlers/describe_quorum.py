"""DescribeQuorum: who votes on the metadata log, who reads it, and how far everybody is. Its leader knows.

The one partition that can be asked for is __cluster_metadata-0, alone; any other question is answered
UNKNOWN_TOPIC_OR_PARTITION for all that it names.

Versions   1 when who fetched last · 2 directories, addresses, words for errors
Not here   the quorum (raft).
See        KIP-595, KIP-836, KIP-853
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.quorum_view import QuorumStatus, ReplicaProgress
from quire.errors import ErrorCode
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.schema import ZERO_UUID
from quire.raft.voters import Voter
from quire.storage.directory_names import METADATA_TOPIC

DIRECTORIES_SINCE: Final = 2


def handle(broker: Broker, call: Call) -> quorum.DescribeQuorumResponse:
    """Answer; see the module."""
    request: quorum.DescribeQuorumRequest = call.request
    asked = [
        (one.topic_name, [p.partition_index for p in one.partitions]) for one in request.topics
    ]
    if asked != [(METADATA_TOPIC, [0])]:
        return _unknown(request)
    status = broker.quorum.status()
    if status is None:
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        return quorum.DescribeQuorumResponse(error_code=code, error_message=code.text, topics=[])
    partition = _partition(broker, status, call.version)
    return quorum.DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        topics=[
            quorum.DescribeQuorumResponseTopicData(
                topic_name=METADATA_TOPIC, partitions=[partition]
            )
        ],
        nodes=_nodes(broker.quorum.voters) if call.version >= DIRECTORIES_SINCE else [],
    )


def _partition(
    broker: Broker, status: QuorumStatus, version: int
) -> quorum.DescribeQuorumResponsePartitionData:
    now_ms = broker.clock.wall_ms()
    leader_id = broker.quorum.leader_id

    def told(progress: ReplicaProgress) -> quorum.ReplicaState:
        is_leader = progress.replica_id == leader_id
        return quorum.ReplicaState(
            replica_id=progress.replica_id,
            replica_directory_id=progress.directory_id
            if version >= DIRECTORIES_SINCE
            else ZERO_UUID,
            log_end_offset=progress.log_end_offset,
            last_fetch_timestamp=now_ms if is_leader else progress.last_fetch_ms,
            last_caught_up_timestamp=now_ms if is_leader else progress.last_caught_up_ms,
        )

    return quorum.DescribeQuorumResponsePartitionData(
        partition_index=0,
        error_code=ErrorCode.NONE,
        leader_id=leader_id,
        leader_epoch=status.epoch,
        high_watermark=status.high_watermark,
        current_voters=[told(one) for one in status.voters],
        observers=[told(one) for one in status.observers],
    )


def _nodes(voters: Sequence[Voter]) -> list[quorum.Node]:
    return [
        quorum.Node(
            node_id=voter.voter_id,
            listeners=[
                quorum.Listener(name=one.name, host=one.host, port=one.port)
                for one in voter.endpoints
            ],
        )
        for voter in voters
    ]


def _unknown(request: quorum.DescribeQuorumRequest) -> quorum.DescribeQuorumResponse:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return quorum.DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        topics=[
            quorum.DescribeQuorumResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    quorum.DescribeQuorumResponsePartitionData(
                        partition_index=one.partition_index,
                        error_code=code,
                        error_message=code.text,
                        leader_id=0,
                        leader_epoch=0,
                        high_watermark=0,
                        current_voters=[],
                        observers=[],
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
