"""Asking who coordinates: the broker of one group or transactional id, or every broker for what it coordinates.

Invariants
  I1  A coordinator that is being elected, or reads its log, is waited for, no longer than `patience_seconds`.
Not here   what is asked of a coordinator (tools/group, tools/txn).
See        KIP-699
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Any, Final, TypeVar

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, expect
from quire.errors import Remedy
from quire.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

T = TypeVar("T")

PATIENCE_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 0.1
SEVERAL_SINCE: Final = 4


class Kind(IntEnum):
    """What is coordinated; the number is FindCoordinator's."""

    GROUP = 0
    TRANSACTION = 1


async def coordinator_of(
    cluster: Cluster, kind: Kind, key: str, *, patience_seconds: float = PATIENCE_SECONDS
) -> int:
    """The broker that coordinates; AnswerError when there is none."""
    what = f"the coordinator of {'group' if kind is Kind.GROUP else 'transaction'} {key}"

    async def ask() -> int:
        connection = await cluster.any()
        version = connection.version_of(FindCoordinatorRequest)
        if version < SEVERAL_SINCE:
            request = FindCoordinatorRequest(key=key, key_type=kind)
            one: Any = await connection.ask(request)
        else:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            answer: FindCoordinatorResponse = await connection.ask(request)
            (one,) = answer.coordinators
        expect(one.error_code, what)
        if one.node_id not in cluster.brokers:
            await cluster.refresh(())
        return int(one.node_id)

    return await patiently(ask, patience_seconds)


async def patiently(ask: Callable[[], Awaitable[T]], seconds: float = PATIENCE_SECONDS) -> T:
    """What `ask` gives, once the coordinator is there (I1)."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            return await ask()
        except AnswerError as error:
            can_wait = error.code.remedy in (Remedy.RETRY, Remedy.FIND_COORDINATOR)
            if not can_wait or loop.time() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)


async def ask_coordinator(
    cluster: Cluster,
    kind: Kind,
    key: str,
    ask: Callable[[int], Awaitable[T]],
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> T:
    """What `ask` gives of the coordinator; it raises AnswerError where the coordinator is another now."""

    async def once() -> T:
        node_id = await coordinator_of(cluster, kind, key, patience_seconds=0)
        return await ask(node_id)

    return await patiently(once, patience_seconds)


async def ask_everybody(
    cluster: Cluster, request: Any, what: str, *, patience_seconds: float = PATIENCE_SECONDS
) -> dict[int, Any]:
    """The answer of each broker that is there, by its number."""
    found = {}
    for node_id in sorted(cluster.brokers):

        async def ask(node_id: int = node_id) -> Any:
            answer = await cluster.ask(request, node_id=node_id)
            expect(answer.error_code, f"{what} of broker {node_id}")
            return answer

        found[node_id] = await patiently(ask, patience_seconds)
    return found
