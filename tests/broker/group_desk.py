"""A broker that coordinates groups, and a client at its door: requests and answers go through their bytes.

async def story(desk: Desk) -> None:
    response = await desk.ask(HeartbeatRequest(...), 4)
at_desk(story)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.broker.caller import Caller, Door
from tests.broker.storehouse import Storehouse, tell

from quire.broker.groups_host import groups_host
from quire.broker.internal_topics import OFFSETS
from quire.errors import ErrorCode
from quire.metadata.delta import Touched
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import sync_group as syncing


class Desk:
    """See the module."""

    def __init__(self, house: Storehouse, caller: Caller, door: Door) -> None:
        self.house = house
        self.caller = caller
        self.door = door
        self.topic_id = bytes(16)

    async def ask(self, request: Any, version: int) -> Any:
        return await self.caller.ask(request, version)

    async def commit(
        self, offset: int, partition: int = 0, group_id: str = "g", topic: str = "orders"
    ) -> ErrorCode:
        """As nobody in particular."""
        request = committing.OffsetCommitRequest(
            group_id=group_id,
            member_id="",
            topics=[
                committing.OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        committing.OffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata="",
                        )
                    ],
                )
            ],
        )
        response = await self.ask(request, 9)
        return ErrorCode(response.topics[0].partitions[0].error_code)

    async def join(self, version: int = 3, group_id: str = "g", member_id: str = "") -> Any:
        request = joining.JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            member_id=member_id,
            protocol_type="consumer",
            protocols=[joining.JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0")],
        )
        return await self.ask(request, version)

    async def member(self, group_id: str = "g") -> str:
        """The one member of a stable group; its id."""
        member_id: str = (await self.join(group_id=group_id)).member_id
        request = syncing.SyncGroupRequest(
            group_id=group_id,
            generation_id=1,
            member_id=member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                syncing.SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")
            ],
        )
        response = await self.ask(request, 5)
        assert (response.error_code, response.assignment) == (ErrorCode.NONE, b"all")
        return member_id

    def take_over(self) -> None:
        """Another broker, with the same logs, begins to coordinate; it reads slowly."""
        house = self.house
        house.broker.groups.stop()
        host = house.broker.groups = groups_host(
            house.broker.layers.settings,
            replicas=house.replicas,
            waiting=house.broker.waiting,
            clock=house.clock,
            entropy=house.entropy,
            journal=house.journal,
        )
        load = host._load

        async def slowly(office: Any) -> None:
            await asyncio.sleep(0.5)
            await load(office)

        host._load = slowly  # type: ignore[method-assign]
        host.apply(house.image, Touched())

    async def elsewhere(self) -> None:
        """Nobody coordinates here any more."""
        self.house.broker.groups.stop()
        await asyncio.sleep(0)


def at_desk(
    story: Callable[[Desk], Coroutine[Any, Any, None]], *, partitions: int = 3, **static: str
) -> None:
    """Run a story with a topic of offsets (where it has partitions) and a topic of orders."""

    async def whole(house: Storehouse) -> None:
        if partitions:
            await house.topic(OFFSETS, partitions=partitions)
        topic_id = await house.topic("orders", partitions=4)
        door = Door(house)
        desk = Desk(house, await door.call(), door)
        desk.topic_id = topic_id
        await story(desk)
        house.broker.groups.check()
        house.broker.groups.stop()
        door.acceptor.drop()

    tell(whole, **static)
