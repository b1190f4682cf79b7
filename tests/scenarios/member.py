"""A consumer of a classic group, as it talks to its coordinator: join, sync, beat, leave; and three ways to share out.

Eager members (range, roundrobin) give up everything before they join again; cooperative ones keep what they have, give
up only what they are told to, and then join once more. What nobody may see: a partition with two owners at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, coordinator_of
from quire.errors import ErrorCode
from quire.protocol.compiler import codec
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import leave_group as leaving
from quire.protocol.messages import sync_group as syncing
from quire.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
from quire.protocol.messages.heartbeat import HeartbeatRequest

GROUP = "readers"
TOPIC = "six"
COUNT = 6
VERSION = 1
BEAT_SECONDS = 0.2
SESSION_MS = 10_000

Shares = dict[str, list[int]]
Strategy = Callable[[Mapping[str, Sequence[int]]], Shares]


def by_range(owned: Mapping[str, Sequence[int]]) -> Shares:
    """Neighbours together; whoever comes first has one more."""
    members = sorted(owned)
    each, more = divmod(COUNT, len(members))
    shares, start = {}, 0
    for number, member in enumerate(members):
        count = each + (number < more)
        shares[member] = list(range(start, start + count))
        start += count
    return shares


def round_robin(owned: Mapping[str, Sequence[int]]) -> Shares:
    """One after the other, like cards."""
    members = sorted(owned)
    return {member: list(range(COUNT))[i :: len(members)] for i, member in enumerate(members)}


def cooperative(owned: Mapping[str, Sequence[int]]) -> Shares:
    """Everybody keeps what it may keep; what another still has is given to nobody in this round."""
    members = sorted(owned)
    each, more = divmod(COUNT, len(members))
    by_size = sorted(members, key=lambda one: (-len(owned[one]), one))
    room = {member: each + (number < more) for number, member in enumerate(by_size)}
    shares = {member: sorted(owned[member])[: room[member]] for member in members}
    held = {partition for has in owned.values() for partition in has}
    for partition in range(COUNT):
        if partition not in held:
            poorest = max(members, key=lambda one: (room[one] - len(shares[one]), one))
            shares[poorest].append(partition)
    return {member: sorted(has) for member, has in shares.items()}


class Ledger:
    """Who owns what; two owners of one partition fail at once."""

    def __init__(self) -> None:
        self.owners: dict[int, str] = {}
        self.revoked = 0

    def take(self, name: str, partitions: Sequence[int]) -> None:
        for partition in partitions:
            assert partition not in self.owners, f"{name} takes {partition} of {self.owners}"
            self.owners[partition] = name

    def give_up(self, name: str, partitions: Sequence[int]) -> None:
        for partition in partitions:
            assert self.owners.pop(partition) == name
            self.revoked += 1

    def shares(self) -> list[list[int]]:
        """The shares, as sorted lists."""
        found: dict[str, list[int]] = {}
        for partition, name in sorted(self.owners.items()):
            found.setdefault(name, []).append(partition)
        return sorted(found.values())


class Member:
    """See the module."""

    def __init__(self, name: str, cluster: Cluster, ledger: Ledger, protocol: str) -> None:
        self.name = name
        self.owned: list[int] = []
        self.generation = -1
        self.rounds = 0
        self._cluster = cluster
        self._ledger = ledger
        self._protocol = protocol
        self._strategy: Strategy = {
            "range": by_range, "roundrobin": round_robin, "cooperative-sticky": cooperative
        }[protocol]  # fmt: skip
        self._id = ""
        self._node = -1
        self._is_leaving = asyncio.Event()

    @property
    def is_cooperative(self) -> bool:
        return self._strategy is cooperative

    async def run(self) -> None:
        """Until `leave`."""
        async with self._cluster:
            self._node = await coordinator_of(self._cluster, Kind.GROUP, GROUP)
            while not self._is_leaving.is_set():
                await self._rebalance()
                while not self._is_leaving.is_set():
                    if await self._beat() is not ErrorCode.NONE:
                        break
                    await asyncio.sleep(BEAT_SECONDS)
            self._ledger.give_up(self.name, self.owned)
            identity = leaving.MemberIdentity(member_id=self._id)
            await self._ask(leaving.LeaveGroupRequest(group_id=GROUP, members=[identity]))

    def leave(self) -> None:
        self._is_leaving.set()

    async def _rebalance(self) -> None:
        if not self.is_cooperative:
            self._ledger.give_up(self.name, self.owned)
            self.owned = []
        while True:
            joined = await self._join()
            shares = self._shared_out(joined) if joined.leader == self._id else {}
            synced = await self._ask(
                syncing.SyncGroupRequest(
                    group_id=GROUP, generation_id=self.generation, member_id=self._id,
                    protocol_type="consumer", protocol_name=self._protocol,
                    assignments=[
                        syncing.SyncGroupRequestAssignment(member_id=one, assignment=assigned(has))
                        for one, has in shares.items()
                    ],
                )
            )  # fmt: skip
            if synced.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                continue
            assert synced.error_code == ErrorCode.NONE
            self.rounds += 1
            if not self._become(read(synced.assignment)):
                return

    def _become(self, mine: list[int]) -> bool:
        """Whether something was given up, so that all must join once more."""
        lost = [one for one in self.owned if one not in mine]
        self._ledger.give_up(self.name, lost)
        self._ledger.take(self.name, [one for one in mine if one not in self.owned])
        self.owned = mine
        return bool(lost)

    async def _join(self) -> Any:
        owned = [
            ConsumerProtocolSubscriptionTopicPartition(topic=TOPIC, partitions=self.owned)
        ] if self.owned else []  # fmt: skip
        wanted = ConsumerProtocolSubscription(topics=[TOPIC], owned_partitions=owned)
        content = VERSION.to_bytes(2) + codec(ConsumerProtocolSubscription, VERSION).encode(wanted)
        while True:
            answer = await self._ask(
                joining.JoinGroupRequest(
                    group_id=GROUP, session_timeout_ms=SESSION_MS, rebalance_timeout_ms=30_000,
                    member_id=self._id, protocol_type="consumer",
                    protocols=[
                        joining.JoinGroupRequestProtocol(name=self._protocol, metadata=content)
                    ],
                )
            )  # fmt: skip
            self._id = answer.member_id
            if answer.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                assert answer.error_code == ErrorCode.NONE
                self.generation = answer.generation_id
                return answer

    def _shared_out(self, joined: Any) -> Shares:
        owned = {}
        for one in joined.members:
            version = int.from_bytes(one.metadata[:2])
            found = codec(ConsumerProtocolSubscription, version).decode(one.metadata, 2)[0]
            owned[one.member_id] = [p for t in found.owned_partitions for p in t.partitions]
        return self._strategy(owned)

    async def _beat(self) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=GROUP, generation_id=self.generation, member_id=self._id
        )
        code = ErrorCode((await self._ask(request)).error_code)
        assert code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
        return code

    async def _ask(self, request: Any) -> Any:
        return await self._cluster.ask(request, node_id=self._node)


def assigned(partitions: Sequence[int]) -> bytes:
    """The bytes of a share."""
    places = [ConsumerProtocolAssignmentTopicPartition(topic=TOPIC, partitions=list(partitions))]
    content = ConsumerProtocolAssignment(assigned_partitions=places)
    return VERSION.to_bytes(2) + codec(ConsumerProtocolAssignment, VERSION).encode(content)


def read(content: bytes) -> list[int]:
    """The inverse."""
    found = codec(ConsumerProtocolAssignment, VERSION).decode(content, 2)[0]
    return [one for place in found.assigned_partitions for one in place.partitions]
