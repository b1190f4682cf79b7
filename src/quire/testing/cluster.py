"""A real cluster inside of a Python program, for as long as a `with` lasts.

    with quire.testing.Cluster() as cluster:
        cluster.create_topic("orders", partitions=3)
        producer = AnyKafkaClient(bootstrap_servers=cluster.bootstrap)

It is the production node on its own thread, with its own loop, on free ports of the loopback, over real files in a
temporary directory. Several may run at once; each takes tens of milliseconds to start and to stop.

Invariants
  I1  After `stop` (or the `with`) nothing is left: no thread, no port, no process, no file.
  I2  What does not start raises its own error in the caller's thread, with nothing left either.
  I3  A cluster that nobody stopped is killed when the program ends: there are no new threads any more by then.
Not here   the node (node.boot), pytest (plugin).
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

from quire.clients.cluster import Cluster as Asked
from quire.clients.errors import expect
from quire.config.broker import BrokerSettings
from quire.config.layers import with_both_ids
from quire.errors import QuireError
from quire.node.boot import Node
from quire.node.boot import start as start_node
from quire.node.format import Formatting, format_directories, is_formatted
from quire.node.world import World
from quire.ports.network import Address
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from quire.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from quire.protocol.schema import ZERO_UUID
from quire.runtime.network import RealNetwork
from quire.runtime.world import real_world
from quire.storage.meta_properties import new_uuid
from quire.types import uuid_to_text

T = TypeVar("T")

HOST = "127.0.0.1"
DEFAULTS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "5",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""Apache Kafka's settings for one small node; whoever makes a cluster may give others."""


class NotRunningError(QuireError):
    """Something was asked of a cluster that does not run."""


class Cluster:
    """See the module."""

    def __init__(
        self, settings: Mapping[str, str] | None = None, *, directory: str | None = None
    ) -> None:
        """`settings` are Apache Kafka's. With a `directory` of one's own the data stays there."""
        self._settings = dict(settings or {})
        self._directory = directory
        self._temporary: str | None = None
        self._ports = {"PLAINTEXT": 0, "CONTROLLER": 0}
        self._life: _Life | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Cluster({self.bootstrap})" if self.is_running else "Cluster(not running)"

    # --- its life -----------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._life is not None

    def start(self) -> None:
        """Start it, or start it again after `kill`, at the same address with the same data."""
        if self._life is not None:
            return
        if self._directory is None and self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix="quire-")
            _RUNNING.add(self)
        try:
            life = _Life(self._static())
            self._ports = {name: one.port for name, one in life.node.listeners.items()}
        except BaseException:
            self._remove_files()
            raise
        self._life = life
        _RUNNING.add(self)

    def stop(self) -> None:
        """Stop it cleanly; its data goes with it, unless the directory was given."""
        self._end(is_clean=True)

    def kill(self) -> None:
        """End it as a crash would: nothing is flushed, connections break; `start` brings it back."""
        life, self._life = self._running(), None
        life.end(is_clean=False)

    # --- where it is --------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """`host:port`, for any client's bootstrap servers."""
        return f"{HOST}:{self.port}"

    @property
    def port(self) -> int:
        self._running()
        return self._ports["PLAINTEXT"]

    @property
    def cluster_id(self) -> str:
        return self._running().node.broker.cluster_id

    @property
    def directory(self) -> str:
        """Where its data is."""
        found = self._directory or self._temporary
        if found is None:
            raise NotRunningError("the cluster was not started, or is gone")
        return found

    # --- topics -------------------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> str:
        """Make a topic; its name. Clients see it when this returns."""
        wanted = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=-1,
            assignments=[],
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in (configs or {}).items()
            ],
        )

        async def make(cluster: Asked) -> None:
            answer = await cluster.ask(CreateTopicsRequest(topics=[wanted]))
            done = answer.topics[0]
            expect(done.error_code, f"topic {name}", done.error_message)

        self._ask(make)
        return name

    def delete_topic(self, name: str) -> None:
        """Delete a topic and what is in it."""

        async def delete(cluster: Asked) -> None:
            request = DeleteTopicsRequest(
                topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID)], timeout_ms=30_000
            )
            answer = await cluster.ask(request)
            done = answer.responses[0]
            expect(done.error_code, f"topic {name}", done.error_message)

        self._ask(delete)

    def topics(self) -> list[str]:
        """The topics there are, sorted, without the internal ones."""

        async def names(cluster: Asked) -> list[str]:
            answer = await cluster.refresh(None)
            return sorted(one.name or "" for one in answer.topics if not one.is_internal)

        return self._ask(names)

    # --- inside -------------------------------------------------------------------------------

    def _end(self, *, is_clean: bool) -> None:
        life, self._life = self._life, None
        _RUNNING.discard(self)
        try:
            if life is not None:
                life.end(is_clean=is_clean)
        finally:
            self._remove_files()

    def _static(self) -> dict[str, str]:
        places = {name: Address(HOST, port) for name, port in self._ports.items()}
        return {
            **DEFAULTS,
            "listeners": ",".join(f"{name}://{place}" for name, place in places.items()),
            "controller.quorum.bootstrap.servers": f"{HOST}:{self._ports['CONTROLLER'] or 1}",
            "log.dirs": f"{self.directory}/data",
            **self._settings,
        }

    def _running(self) -> _Life:
        if self._life is None:
            raise NotRunningError("the cluster does not run")
        return self._life

    def _ask(self, question: Callable[[Asked], Coroutine[Any, Any, T]]) -> T:
        address = Address(HOST, self.port)

        async def ask() -> T:
            async with Asked(RealNetwork(), [address], client_id="quire-testing") as cluster:
                return await question(cluster)

        return self._running().run(ask())

    def _remove_files(self) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


class _Life:
    """One run of the node, on its own thread. Made when the node serves."""

    def __init__(self, static: Mapping[str, str]) -> None:
        self._static = static
        self._loop: asyncio.AbstractEventLoop
        self._ending: asyncio.Event
        self._is_clean = True
        self._serving: Future[Node] = Future()
        self._thread = threading.Thread(target=self._run, name="quire-node", daemon=True)
        self._thread.start()
        try:
            self.node = self._serving.result()
        except BaseException:
            self._thread.join()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` on the node's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def end(self, *, is_clean: bool) -> None:
        """End the node and its thread; what ended it before is raised."""
        self._is_clean = is_clean
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    _failure: BaseException | None = None

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:  # noqa: BLE001 -- it is the caller's, in another thread
            if self._serving.done():
                self._failure = error
            else:
                self._serving.set_exception(error)

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        with real_world(self._static) as world:
            _format(world, self._static)
            node = await start_node(world, self._static)
            self._serving.set_result(node)
            failing = asyncio.ensure_future(node.failed())
            ending = asyncio.ensure_future(self._ending.wait())
            await asyncio.wait({failing, ending}, return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            if failing.done():
                node.crash()
                await self._ending.wait()
                raise failing.result()
            failing.cancel()
            if self._is_clean:
                await node.stop()
            else:
                node.crash()
                await asyncio.sleep(0)  # what was cancelled ends, what was aborted is closed
                await asyncio.sleep(0)


def _format(world: World, static: Mapping[str, str]) -> None:
    settings = BrokerSettings.of(with_both_ids(static))
    if is_formatted(world.disk, settings):
        return
    wanted = Formatting(
        cluster_id=uuid_to_text(new_uuid(world.entropy)),
        standalone=not settings.controller_quorum_voters,
    )
    format_directories(
        world.disk, static, wanted, entropy=world.entropy, now_ms=world.clock.wall_ms()
    )


_RUNNING: weakref.WeakSet[Cluster] = weakref.WeakSet()


def _end_all() -> None:
    """I3."""
    for cluster in list(_RUNNING):
        cluster._end(is_clean=False)  # noqa: SLF001 -- our own


atexit.register(_end_all)
