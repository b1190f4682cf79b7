"""What a workload is to a run, and how its clients ask: again and again, until somebody answers.

Not here   what is done (each workload), what is broken (sim.nemesis).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, ClientError
from quire.errors import ErrorCode
from quire.ports.network import Network
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from quire.protocol.messages.find_coordinator import FindCoordinatorRequest
from quire.sim.clock import START_MS
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.nemesis import WEIGHTS
from quire.sim.trace import Trace

ANSWER_SECONDS = 5.0
PAUSE_SECONDS = 0.2
WRITTEN_MS = START_MS - 12 * 3600 * 1000
"""The records' timestamp: so long ago that no jump of the node's clock makes it lie too far ahead, and not so long that
their producers are forgotten (producer.id.expiration.ms)."""
PASSING = (OSError, TimeoutError, ClientError)
PASSING_CODES = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR)
"""Of a node whose disk is full or struck; whether the request was carried out is not known."""
DURABLE = {"quire.log.fsync.before.ack": "true"}
FAULTS_WITHOUT_LOSS = {name: weight for name, weight in WEIGHTS.items() if name != "power loss"}


class NotConvergedError(Exception):
    """Everything was healed, and still something did not come to its end."""


class World(NamedTuple):
    """What a workload is given of its world."""

    life: Life
    network: Network
    history: History
    trace: Trace

    def cluster(self, client_id: str) -> Cluster:
        """The node, through all its lives."""
        return Cluster(self.network, [self.life.address()], client_id=client_id)

    def now(self) -> float:
        """The time of nobody's clock."""
        return asyncio.get_running_loop().time()

    def reign(self) -> int:
        """A number that is another one whenever coordinators have begun from their logs again."""
        return self.trace.counts.get(("coordinators", "takes office"), 0)

    def say(self, who: str, text: str, **facts: object) -> None:
        """One line of the trace."""
        self.trace.add("clients", who, "", text, **facts)


class Work(Protocol):
    """One workload in one world; `sim.run` has their names."""

    def __init__(self, world: World, entropy: SeededEntropy) -> None: ...

    def settings(self) -> Mapping[str, str]:
        """What its node is set to, besides what every world's is."""

    def faults(self) -> Mapping[str, int]:
        """What may be broken, and how likely each is (see nemesis.WEIGHTS)."""

    async def run(self, faults: asyncio.Task[None]) -> None:
        """All that clients do: while `faults` runs, and afterwards until everything has come to its end."""

    def judge(self) -> None:
        """Raise BrokenLawError when a promise was not kept."""

    def acknowledged(self) -> int:
        """How much was promised, so that an idle world is noticed."""


async def create_topic(
    world: World, name: str, partitions: int, configs: Mapping[str, str] | None = None
) -> None:
    """Return once it is there."""
    wanted = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=setting, value=value)
            for setting, value in (configs or {}).items()
        ],
    )
    while True:
        try:
            async with world.cluster("admin") as cluster:
                answer = await cluster.ask(CreateTopicsRequest(topics=[wanted]))
        except PASSING:
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        code = ErrorCode.of(answer.topics[0].error_code)
        if code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            return
        if not code.retriable:
            raise AnswerError(code, f"creating {name}")
        await asyncio.sleep(PAUSE_SECONDS)


class Line:
    """A client's way to one coordinator: a connection that is opened again whenever it ended."""

    def __init__(self, world: World, name: str, key: str, key_type: int) -> None:
        self._world = world
        self._name = name
        self._find = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        self._cluster: Cluster | None = None
        self._node = -1

    async def ask(
        self, request: Any, *, version: int | None = None, seconds: float = ANSWER_SECONDS
    ) -> Any | None:
        """The answer; None when there was none, whatever became of the request."""
        try:
            cluster = await self.cluster()
            connection = await cluster.broker(self._node)
            return await connection.ask(request, version=version, timeout_seconds=seconds)
        except PASSING:
            self.hang_up()
            return None

    async def cluster(self) -> Cluster:
        """The cluster, once it is known who the coordinator is."""
        if self._cluster is not None:
            return self._cluster
        cluster = self._world.cluster(self._name)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await cluster.refresh(())
                answer = await cluster.ask(self._find)
            found = answer.coordinators[0]
            if found.error_code != ErrorCode.NONE:
                raise AnswerError(found.error_code, "finding the coordinator")
        except PASSING:
            cluster.close()
            raise
        self._cluster, self._node = cluster, found.node_id
        return cluster

    def hang_up(self) -> None:
        """Begin with a new connection."""
        if self._cluster is not None:
            self._cluster.close()
        self._cluster = None
