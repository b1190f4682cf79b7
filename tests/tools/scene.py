"""A question put to one scripted broker in a simulated network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from tests.clients.peer import Peer, Script, metadata, network

from quire.clients.cluster import Cluster
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.sim import loop

T = TypeVar("T")
BROKER = Address("one", 9092)


def asked(
    question: Callable[[Cluster], Awaitable[T]],
    scripts: Mapping[int, Script],
    topics: Mapping[str, Mapping[int, int]] | None = None,
) -> tuple[T, list[Any]]:
    """What the question gives, and the requests that the broker saw for it (no Metadata, no ApiVersions)."""

    async def scene() -> tuple[T, list[Any]]:
        world = network()
        known = metadata({1: BROKER}, topics or {})
        peer = Peer(world, BROKER, {ApiKey.METADATA: known, **scripts})
        async with Cluster(world.machine("client"), [BROKER]) as cluster:
            found = await question(cluster)
        seen = [body for _, body in peer.asked]
        kinds = ("MetadataRequest", "ApiVersionsRequest")
        return found, [body for body in seen if type(body).__name__ not in kinds]

    return loop.run(scene)
