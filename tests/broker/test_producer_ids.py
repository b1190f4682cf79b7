from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quire.broker.call import Client
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.producer_ids import ProducerIds
from quire.errors import ErrorCode
from quire.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)


class Blocks:
    """A controller that gives blocks of three, a moment after it was asked."""

    def __init__(self, code: ErrorCode = ErrorCode.NONE) -> None:
        self.code = code
        self.asked: list[AllocateProducerIdsRequest] = []

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:
        assert (version, client) == (0, None)
        self.asked.append(request)
        await asyncio.sleep(0)
        return AllocateProducerIdsResponse(
            throttle_time_ms=0,
            error_code=self.code,
            producer_id_start=1000 * len(self.asked),
            producer_id_len=3,
        )


def ids_of(blocks: Blocks) -> ProducerIds:
    return ProducerIds(blocks, node_id=4, broker_epoch=lambda: 17)


def test_ids_follow_one_another_and_blocks_are_asked_for_when_they_are_used_up() -> None:
    blocks = Blocks()

    async def four() -> list[int]:
        ids = ids_of(blocks)
        return [await ids.next() for _ in range(4)]

    assert asyncio.run(four()) == [1000, 1001, 1002, 2000]
    assert [(one.broker_id, one.broker_epoch) for one in blocks.asked] == [(4, 17)] * 2


def test_many_who_ask_at_once_share_requests_and_never_an_id() -> None:
    blocks = Blocks()

    async def many() -> list[int]:
        ids = ids_of(blocks)
        return await asyncio.gather(*(ids.next() for _ in range(10)))

    found = asyncio.run(many())
    assert len(set(found)) == 10
    assert len(blocks.asked) == 4


def test_a_refusal_is_told_and_the_next_one_asks_again() -> None:
    blocks = Blocks(ErrorCode.STALE_BROKER_EPOCH)

    async def refused_then_given() -> int:
        ids = ids_of(blocks)
        with pytest.raises(ControllerUnavailableError, match="STALE_BROKER_EPOCH"):
            await ids.next()
        blocks.code = ErrorCode.NONE
        return await ids.next()

    assert asyncio.run(refused_then_given()) == 2000
