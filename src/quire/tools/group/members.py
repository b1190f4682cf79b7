"""Who is in a group and what each member has, whichever protocol the group speaks.

A coordinator that knows consumer groups is asked for one first; what is none of these is a classic group.

See   KIP-88, KIP-848, KIP-1043
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.coordinators import PATIENCE_SECONDS, Kind, ask_coordinator
from quire.clients.errors import AnswerError, expect
from quire.errors import ErrorCode, ProtocolError
from quire.protocol.compiler import codec
from quire.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from quire.protocol.messages.consumer_protocol import ConsumerProtocolAssignment
from quire.protocol.messages.describe_groups import DescribeGroupsRequest
from quire.types import TopicPartition

CONSUMER_PROTOCOL: Final = "consumer"
DEAD: Final = "Dead"
_VERSION_BYTES: Final = 2
_NEWEST_ASSIGNMENT: Final = 3


class Member(NamedTuple):
    """One member; a static one has an instance id."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: tuple[TopicPartition, ...]

    def __str__(self) -> str:
        return f"{self.member_id} ({self.client_id}, {self.host})"


class Group(NamedTuple):
    """A group as its coordinator sees it; `protocol` is how partitions are shared out."""

    name: str
    state: str
    type: str
    protocol: str | None
    epoch: int | None
    coordinator: int
    members: tuple[Member, ...]

    def owners(self) -> dict[TopicPartition, Member]:
        """Who has each partition that somebody has."""
        return {place: one for one in self.members for place in one.partitions}


async def find_group(
    cluster: Cluster, name: str, *, patience_seconds: float = PATIENCE_SECONDS
) -> Group:
    """A group; AnswerError when there is none, or nobody can say."""

    async def ask(node_id: int) -> Group:
        connection = await cluster.broker(node_id)
        if connection.speaks(ConsumerGroupDescribeRequest):
            found = await _consumer_group(cluster, node_id, name)
            if found is not None:
                return found
        return await _classic_group(cluster, node_id, name)

    return await ask_coordinator(cluster, Kind.GROUP, name, ask, patience_seconds=patience_seconds)


async def _consumer_group(cluster: Cluster, node_id: int, name: str) -> Group | None:
    request = ConsumerGroupDescribeRequest(group_ids=[name], include_authorized_operations=False)
    answer = await cluster.ask(request, node_id=node_id)
    (one,) = answer.groups
    if one.error_code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
        return None
    expect(one.error_code, f"group {name}", one.error_message)
    members = tuple(
        Member(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host.removeprefix("/"),
            tuple(
                TopicPartition(topic.topic_name, partition)
                for topic in member.assignment.topic_partitions
                for partition in topic.partitions
            ),
        )
        for member in one.members
    )
    return Group(
        name, one.group_state, "consumer", one.assignor_name or None, one.group_epoch, node_id,
        members,
    )  # fmt: skip


async def _classic_group(cluster: Cluster, node_id: int, name: str) -> Group:
    answer = await cluster.ask(DescribeGroupsRequest(groups=[name]), node_id=node_id)
    (one,) = answer.groups
    expect(one.error_code, f"group {name}", one.error_message)
    if one.group_state == DEAD:
        raise AnswerError(ErrorCode.GROUP_ID_NOT_FOUND, f"group {name}")
    is_consumers = one.protocol_type == CONSUMER_PROTOCOL
    members = tuple(
        Member(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host.removeprefix("/"),
            assigned(member.member_assignment) if is_consumers else (),
        )
        for member in one.members
    )
    protocol = one.protocol_data or None
    return Group(name, one.group_state, "classic", protocol, None, node_id, members)


def assigned(content: bytes) -> tuple[TopicPartition, ...]:
    """The partitions in a classic consumer's assignment; none where it cannot be read."""
    if len(content) < _VERSION_BYTES:
        return ()
    version = min(int.from_bytes(content[:_VERSION_BYTES]), _NEWEST_ASSIGNMENT)
    try:
        found: Any = codec(ConsumerProtocolAssignment, version).decode(content, _VERSION_BYTES)[0]
    except ProtocolError:
        return ()
    return tuple(
        TopicPartition(one.topic, partition)
        for one in found.assigned_partitions
        for partition in one.partitions
    )
