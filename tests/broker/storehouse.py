"""A broker with real logs on a simulated disk, on a virtual loop: what the metadata says is told record by record.

async def story(house: Storehouse) -> None:
    await house.topic("orders", partitions=2)
    ...
tell(story)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from quire.broker.broker import Broker, BrokerState, Waiting
from quire.broker.fetch_sessions import FetchSessions
from quire.broker.groups_host import groups_host
from quire.broker.metrics import Metrics
from quire.broker.purgatory import Purgatory
from quire.broker.quotas import Quotas
from quire.broker.replica import Replica
from quire.broker.replicas import Replicas
from quire.config.layers import BrokerLayers
from quire.metadata.delta import Delta, Touched
from quire.metadata.image import BROKER, EMPTY, Image
from quire.protocol.messages import metadata_records as records
from quire.records.batch import Record, encode_batch
from quire.sim import loop as virtual
from quire.sim.clock import LoopClock
from quire.sim.disk import SimDisk
from quire.sim.entropy import SeededEntropy
from quire.storage.log_dirs import LogDirs
from quire.storage.meta_properties import MetaProperties, write_meta_properties

T = TypeVar("T")

NODE = 1
BROKER_EPOCH = 7
STATIC = {
    "process.roles": "broker,controller",
    "node.id": str(NODE),
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
    "log.dirs": "/a",
}


class InTurn:
    """Background work, done as a whole a moment later."""

    def __init__(self) -> None:
        self.done = 0

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        return asyncio.get_running_loop().create_task(self._do(work))

    async def _do(self, work: Callable[[], T]) -> T:
        await asyncio.sleep(0.001)
        self.done += 1
        return work()


class Lines:
    """A journal that can be read."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        self.lines.append(f"{room} {subject} {text} {facts}")


class Storehouse:
    """See the module."""

    def __init__(self, disk: SimDisk | None = None, *paths: str, **static: str) -> None:
        self.paths = paths or ("/a",)
        self.entropy = SeededEntropy(1)
        if disk is None:
            disk = SimDisk(1)
            for path in self.paths:
                disk.make_directory(path)
                disk.flush_directory("/")
                write_meta_properties(disk, path, MetaProperties("cluster", NODE, None))
        self.disk = disk
        texts = {**STATIC, **{name.replace("_", "."): text for name, text in static.items()}}
        self.image: Image = EMPTY
        self.clock = LoopClock(asyncio.get_running_loop())
        self.background = InTurn()
        self.journal = Lines()
        self.metrics = Metrics()
        self.log_dirs = LogDirs.open(disk, self.paths, entropy=self.entropy, node_id=NODE)
        waiting = Waiting(Purgatory(), Purgatory(), Purgatory(), Purgatory())
        self.replicas = Replicas(
            log_dirs=self.log_dirs,
            waiting=waiting,
            clock=self.clock,
            entropy=self.entropy,
            background=self.background,
            metrics=self.metrics,
            journal=self.journal,
        )
        self.broker = Broker(
            node_id=NODE,
            cluster_id="cluster",
            incarnation_id=bytes(16),
            layers=BrokerLayers(texts),
            replicas=self.replicas,
            log_dirs=self.log_dirs,
            fetch_sessions=FetchSessions(slots=10, eviction_ms=1000, draw_below=self.entropy.below),
            waiting=waiting,
            controller=cast("Any", None),
            quorum=cast("Any", SimpleNamespace(leader_id=NODE, kraft_version=1)),
            quotas=Quotas(self.clock),
            producer_ids=cast("Any", None),
            groups=groups_host(
                BrokerLayers(texts).settings,
                replicas=self.replicas,
                waiting=waiting,
                clock=self.clock,
                entropy=self.entropy,
                journal=self.journal,
            ),
            metrics=self.metrics,
            clock=self.clock,
            entropy=self.entropy,
            background=self.background,
            journal=self.journal,
            state=BrokerState.RUNNING,
            broker_epoch=BROKER_EPOCH,
        )

    async def start(self, image: Image | None = None) -> None:
        """Load what is on the disk, and become what `image` says."""
        if image is None:
            delta = Delta(EMPTY)
            delta.replay(
                records.RegisterBrokerRecord(
                    broker_id=NODE, incarnation_id=bytes(16), broker_epoch=BROKER_EPOCH,
                    end_points=[
                        records.BrokerEndpoint(
                            name="PLAINTEXT", host="localhost", port=9092, security_protocol=0
                        )
                    ],
                    features=[], rack=None, fenced=False,
                )
            )  # fmt: skip
            image = delta.apply(0, 1)
        self.image = self.broker.image = image
        self.replicas.prepare(image, self.broker.layers)
        self.log_dirs.load(self.replicas.open_log, home=partial(image.home_of, NODE))
        touched = Touched(
            brokers=dict.fromkeys(image.brokers),
            created_topics={topic.topic_id: topic.name for topic in image.topics.values()},
            partitions={(topic.topic_id, index): None for topic, index, _ in image.partitions()},
            configs=dict.fromkeys(image.configs),
        )
        await self.replicas.apply(image, touched, self.broker.layers, BROKER_EPOCH)
        self.broker.groups.apply(image, touched)
        self.replicas.check()

    async def learn(self, *messages: Any) -> None:
        """The metadata log has grown by these records."""
        delta = Delta(self.image)
        for message in messages:
            delta.replay(message)
        image = delta.apply(self.image.offset + len(messages), 1)
        layers = self.broker.layers.with_dynamic(
            cluster=image.config(BROKER, ""), broker=image.config(BROKER, str(NODE))
        )
        if any(resource.resource_type == BROKER for resource in delta.touched.configs):
            self.broker.layers = layers
        self.image = self.broker.image = image
        await self.replicas.apply(image, delta.touched, self.broker.layers, BROKER_EPOCH)
        self.broker.groups.apply(image, delta.touched)
        self.replicas.check()

    async def topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replicas: tuple[int, ...] = (NODE,),
        isr: tuple[int, ...] | None = None,
        leader: int = NODE,
        leader_epoch: int = 0,
        directory: bytes | None = None,
        **settings: str,
    ) -> bytes:
        """Make a topic; its id."""
        topic_id = self.entropy.bytes(16)
        await self.learn(
            records.TopicRecord(name=name, topic_id=topic_id),
            *(
                records.ConfigRecord(
                    resource_type=2, resource_name=name, name=key.replace("_", "."), value=value
                )
                for key, value in settings.items()
            ),
            *(
                records.PartitionRecord(
                    partition_id=index, topic_id=topic_id, replicas=list(replicas),
                    isr=list(isr or replicas), removing_replicas=[], adding_replicas=[],
                    leader=leader, leader_epoch=leader_epoch, partition_epoch=0,
                    directories=[] if directory is None else [directory] * len(replicas),
                )
                for index in range(partitions)
            ),
        )  # fmt: skip
        return topic_id

    def replica(self, topic: str, partition: int = 0) -> Replica:
        found = self.replicas.get(topic, partition)
        assert found is not None
        return found

    def append(self, topic: str, count: int = 3, partition: int = 0, value: bytes = b"v") -> Any:
        """Append `count` records."""
        return self.replicas.append(
            self.replica(topic, partition),
            batch_of(count, value=value, timestamp=self.clock.wall_ms()),
            now_ms=self.clock.wall_ms(),
            monotonic_ms=self.clock.monotonic_ms(),
        )

    async def stop(self, *, clean: bool = True) -> None:
        """Stop as a node does."""
        await self.replicas.flushes.settle()
        self.log_dirs.close(now_ms=self.clock.wall_ms(), broker_epoch=BROKER_EPOCH, is_clean=clean)

    def crash(self) -> SimDisk:
        """Lose power; the disk of the next life."""
        self.replicas.flushes.drop()
        return self.disk.crash()


def batch_of(
    count: int = 3, *, value: bytes = b"v", timestamp: int = 1_000_000, **fields: Any
) -> bytearray:
    return encode_batch(
        [Record(index, timestamp, b"key", value) for index in range(count)], **fields
    )


def tell(
    story: Callable[[Storehouse], Coroutine[Any, Any, None]], *paths: str, **static: str
) -> None:
    """Run a story in a new house."""

    async def whole() -> None:
        house = Storehouse(None, *paths, **static)
        await house.start()
        await story(house)
        house.replicas.check()
        await house.replicas.flushes.settle()

    virtual.run(whole)
