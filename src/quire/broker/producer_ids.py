"""Producer ids for idempotent producers: blocks from the controller, handed out one by one.

Invariants
  I1  An id is handed out once, by any broker, ever: the controller commits the end of a block before it gives it.
  I2  However many ask at once, one request for a block is under way at most.
  I3  What is left of a block when a broker stops is lost, and nobody minds.
Not here   transactional ids: their producer ids are kept by the transaction coordinator.
See        KIP-98, KIP-730
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quire.broker.controller_link import ControllerLink, ControllerUnavailableError
from quire.errors import ErrorCode
from quire.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)


class ProducerIds:
    """See the module."""

    def __init__(
        self, controller: ControllerLink, *, node_id: int, broker_epoch: Callable[[], int]
    ) -> None:
        self._controller = controller
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._next = 0
        self._end = 0
        self._one_at_a_time = asyncio.Lock()

    async def next(self) -> int:
        """An id nobody else has; ControllerUnavailableError when no block can be had now."""
        while self._next == self._end:
            async with self._one_at_a_time:
                if self._next == self._end:
                    await self._take_block()
        found = self._next
        self._next += 1
        return found

    async def _take_block(self) -> None:
        request = AllocateProducerIdsRequest(
            broker_id=self._node_id, broker_epoch=self._broker_epoch()
        )
        answer: AllocateProducerIdsResponse = await self._controller.ask(request, version=0)
        if answer.error_code != ErrorCode.NONE:
            code = ErrorCode(answer.error_code)
            raise ControllerUnavailableError(f"no block of producer ids: {code.name}")
        self._next = answer.producer_id_start
        self._end = answer.producer_id_start + answer.producer_id_len
