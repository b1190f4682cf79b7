"""The other end of a connection, scripted: answers by API, in a simulated network.

A script is a function of the request and its version; what it returns is the answer, None is silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quire.ports.network import Address, Stream
from quire.protocol.apis import APIS, ApiKey, Listener
from quire.protocol.connection import ServerFraming, api_versions_refusal
from quire.protocol.messages import REQUESTS
from quire.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from quire.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from quire.sim.entropy import SeededEntropy
from quire.sim.network import SimNetwork

Script = Callable[[Any, int], Any]


class Peer:
    """A node at `address` that answers as it is told; `asked` remembers every request and its version."""

    def __init__(
        self, network: SimNetwork, address: Address, scripts: Mapping[int, Script]
    ) -> None:
        self.scripts = {ApiKey.API_VERSIONS: lambda _request, _version: versions(), **scripts}
        self.newest_api_versions = 4
        self.asked: list[tuple[int, Any]] = []
        self.streams: list[Stream] = []
        self.listening = network.machine(address.host).listen(address, self._accept)

    def _accept(self, stream: Stream) -> _End:
        self.streams.append(stream)
        return _End(self, stream)


class _End:
    def __init__(self, peer: Peer, stream: Stream) -> None:
        self._peer = peer
        self._stream = stream
        self._framing = ServerFraming(Listener.BROKER)
        self.buffer = self._framing.buffer

    def received(self, count: int) -> None:
        for request in self._framing.received(count):
            if request.api.key == ApiKey.API_VERSIONS and (
                request.version > self._peer.newest_api_versions
            ):
                self._stream.send([api_versions_refusal(request.correlation_id)])
                continue
            body = request.decode()
            self._peer.asked.append((request.version, body))
            answer = self._peer.scripts[request.api.key](body, request.version)
            if answer is not None:
                self._stream.send(request.encode_response(answer))

    def drained(self) -> None: ...

    def closed(self, reason: Exception | None) -> None: ...


def versions(**highest: int) -> ApiVersionsResponse:
    """All of a broker's APIs; `Fetch=12` claims less of one, `Fetch=-1` nothing."""
    return ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(
                api_key=api.key,
                min_version=api.lowest,
                max_version=highest.get(api.name, api.highest_stable),
            )
            for api in APIS.values()
            if highest.get(api.name, 0) >= 0
        ],
        throttle_time_ms=0,
    )


def metadata(
    brokers: Mapping[int, Address], topics: Mapping[str, Mapping[int, int]], error: int = 0
) -> Script:
    """Topics are name -> partition -> leader."""

    def answer(request: Any, _version: int) -> MetadataResponse:
        names = list(topics) if request.topics is None else [one.name for one in request.topics]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=node, host=at.host, port=at.port)
                for node, at in brokers.items()
            ],
            cluster_id="a cluster",
            topics=[
                MetadataResponseTopic(
                    error_code=error if name in topics else 3,
                    name=name,
                    topic_id=name.encode().ljust(16, b"\0")[:16],
                    partitions=[
                        MetadataResponsePartition(
                            error_code=0 if leader >= 0 else 5,
                            partition_index=index,
                            leader_id=leader,
                            replica_nodes=[1],
                            isr_nodes=[1],
                        )
                        for index, leader in topics.get(name, {}).items()
                    ],
                )
                for name in names
            ],
        )

    return answer


def network(seed: int = 1) -> SimNetwork:
    return SimNetwork(SeededEntropy(seed))


def response_class(key: int) -> Any:
    return REQUESTS[key][1]
