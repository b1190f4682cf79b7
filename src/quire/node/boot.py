"""A node from its settings to serving, and back: started, stopped as an operator does, or dropped as a crash does.

    directories claimed -> metadata log read -> listeners bound -> quorum led -> logs loaded while the broker registers
    -> metadata published -> let in -> serving

Invariants
  I1  Nothing is served before the broker was let in and has published the image that says so.
  I2  A node that could not start, or crashed, leaves nothing running, no claim on a directory and no listener.
  I3  A clean stop is, in this order: leaderships handed over, listeners closed, answers given, logs closed with their
      promise, the quorum left, the metadata log closed.
  I4  An error of the metadata log's disk, of the last log directory, or that nobody expected, ends the node: `failed`.
Not here   the real world and signals (runtime), what runs while it serves (housekeeping).
See        docs/decisions/0001-pure-rooms-and-ports.md, KIP-631
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from quire.broker.broker import Broker, BrokerState, Waiting
from quire.broker.config_rules import SettingsRules
from quire.broker.connection import Acceptor
from quire.broker.fetch_sessions import FetchSessions
from quire.broker.groups_host import groups_host
from quire.broker.internal_topics import OFFSETS, TRANSACTIONS
from quire.broker.markers import Markers
from quire.broker.metrics import Metrics
from quire.broker.producer_ids import ProducerIds
from quire.broker.purgatory import Purgatory
from quire.broker.quotas import Quotas
from quire.broker.replicas import Replicas
from quire.broker.transactions import make_host
from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import inter_broker_listener
from quire.config.checks import check_node
from quire.config.layers import BrokerLayers
from quire.config.values import ConfigError
from quire.errors import StorageError
from quire.metadata.image import Broker as Registered
from quire.metadata.records import Message, decode_value
from quire.node.controller_host import ControllerHost
from quire.node.controller_link import LocalController, controller_settings
from quire.node.feed import Feed
from quire.node.format import BOOTSTRAP_FILE
from quire.node.housekeeping import Housekeeping
from quire.node.lifecycle import Lifecycle, controller_registration
from quire.node.listeners import Listeners, check_protocols
from quire.node.metadata_log import MetadataLog
from quire.node.pages import Pages
from quire.node.peers import Peers
from quire.node.publish import Publisher, layers_of
from quire.node.quorum import Quorum
from quire.node.snapshots import Snapshots
from quire.node.tasks import Tasks
from quire.node.voters import Voters, find_voters
from quire.node.world import World
from quire.ports.network import Accept, Address, Owner, Stream
from quire.protocol.apis import BROKER, CONTROLLER
from quire.protocol.apis import Listener as Kind
from quire.raft import machine as raft
from quire.raft.snapshots import read as read_snapshot
from quire.storage.log_dir import LogDir
from quire.storage.log_dirs import LogDirs, RunEach
from quire.storage.meta_properties import agree, new_uuid
from quire.storage.settings import NEVER, UNLIMITED, LogSettings
from quire.storage.small_files import read_file
from quire.types import TopicPartition

if TYPE_CHECKING:
    from quire.broker.exposition import Family

SHUTDOWN_SECONDS = 60.0
"""How long leaderships are handed over, and answers given, at most."""
SESSION_EVICTION_MS = 120_000
"""How old a fetch session must be before a newer one may take its place; as in Apache Kafka."""


async def start(world: World, static: Mapping[str, str]) -> Node:
    """A node with these settings (Apache Kafka's names and texts), serving."""
    node = Node(world, static)
    try:
        await node.start()
    except BaseException:
        node.crash()
        raise
    return node


class Node:
    """See the module. Made by `start`."""

    def __init__(self, world: World, static: Mapping[str, str]) -> None:
        """Judge the settings; nothing is touched yet."""
        self._world = world
        self.layers = BrokerLayers(static)
        settings = self.layers.settings
        check_node(settings)
        check_supported(settings)
        for name in settings.unknown:
            world.journal.say("config", name, "unknown setting")
        self.node_id = settings.node_id
        self.broker: Broker
        self.listeners: dict[str, Address] = {}
        """The true address of each listener by its name."""
        self._tasks = Tasks()
        self._log_dirs: LogDirs | None = None
        self._metadata_dir: LogDir | None = None
        self._metadata_log: MetadataLog
        self._feed: Feed
        self._quorum: Quorum
        self._host: ControllerHost | None = None
        self._lifecycle: Lifecycle | None = None
        self._acceptors: dict[str, Acceptor] = {}
        self._housekeeping: Housekeeping | None = None
        self._pages: Pages | None = None
        self.pages_address: Address | None = None
        """Where /metrics and /health are, if anywhere."""
        self._stopping = False
        self._peers: Peers
        self._listeners = Listeners(
            world.network, settings, self._accept_for, host_name=world.host_name
        )

    @property
    def settings(self) -> BrokerSettings:
        """What the files and the command line said; `broker.layers` has what holds now."""
        return self.layers.settings

    @property
    def feed(self) -> Feed:
        return self._feed

    @property
    def controller(self) -> ControllerHost | None:
        return self._host

    async def start(self) -> None:
        """From the directories to serving; `boot.start` does it."""
        background, settings = self._world.background, self.settings
        log_dirs = self._log_dirs = self._claim()
        self._metadata_log = await background.run(
            partial(
                MetadataLog.open,
                self._world,
                settings.metadata_log_directory,
                metadata_log_settings(settings),
            )
        )
        controls = await background.run(self._metadata_log.controls)
        self._feed = Feed(self._metadata_log)
        await background.run(self._feed.load)
        self._listeners.open()
        self.listeners = self._listeners.addresses
        controllers = self._listeners.told(CONTROLLER)
        directory_id = self._metadata_directory_id(log_dirs)
        voters = find_voters(settings, controls, self._metadata_log, controllers, directory_id)
        self._assemble(log_dirs, voters)
        pages = self._pages = Pages(
            self._world.network, self.broker, self._tasks, figures=self._figures
        )
        self.pages_address = pages.open(settings.quire_http_listener)
        self._quorum.start(self)
        await self._or_failure(self._serve(log_dirs))

    async def stop(self) -> None:
        """Stop cleanly (I3); what the disk does not let us finish is left for recovery."""
        self._stopping = True
        self._say("is asked to stop")
        log_dirs, broker, lifecycle = self._log_dirs, self.broker, self._lifecycle
        assert log_dirs is not None
        if lifecycle is not None and broker.layers.settings.controlled_shutdown_enable:
            with suppress(TimeoutError):
                async with asyncio.timeout(SHUTDOWN_SECONDS):
                    await lifecycle.shut_down()
        broker.state = BrokerState.SHUTTING_DOWN
        broker.groups.stop()  # whoever waits for its group is told to look elsewhere
        self._listeners.close()
        if self._pages is not None:
            self._pages.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN_SECONDS):
                await asyncio.gather(*(one.drain() for one in self._acceptors.values()))
        if self._housekeeping is not None:
            await self._housekeeping.stop()
        self._leave_offices()
        async with self._feed.at_rest():
            self._quorum.resign()
            await self._quorum.settle()
            await self._tasks.cancel()
        await broker.replicas.settle()
        now_ms = self._world.clock.wall_ms()
        await self._world.background.run(
            partial(
                log_dirs.close,
                now_ms=now_ms,
                broker_epoch=broker.broker_epoch,
                run=self._run_each(broker.layers.settings),
            )
        )
        await self._world.background.run(self._metadata_log.close)
        self._release()
        if broker.waiting.deadlines is not None:
            broker.waiting.deadlines.stop()
        broker.state = BrokerState.NOT_RUNNING
        self._say("has stopped")

    def crash(self) -> None:
        """Drop everything without flushing anything, as the end of the process would (I2)."""
        self._stopping = True
        self._tasks.drop()
        if self._host is not None:
            self._host.leave_office()
        if self._housekeeping is not None:
            self._housekeeping.drop()
        self._listeners.close()
        if self._pages is not None:
            self._pages.close()
        for acceptor in self._acceptors.values():
            acceptor.drop()
        if hasattr(self, "broker"):
            self._leave_offices()
            self.broker.replicas.drop()
            if self.broker.waiting.deadlines is not None:
                self.broker.waiting.deadlines.stop()
            self.broker.state = BrokerState.NOT_RUNNING
        self._release()

    async def failed(self) -> BaseException:
        """Why the node cannot go on (I4); waits for as long as it can."""
        return await self._tasks.failed()

    def check(self) -> None:
        """Assert the invariants of everything in the node."""
        self._quorum.check()
        self.broker.replicas.check()
        for host in self.broker.hosts.values():
            host.check()
        if self._host is not None and self._host.machine is not None:
            self._host.machine.check()
        for _name, purgatory in self.broker.waiting.all():
            purgatory.check()

    # --- told by the quorum -------------------------------------------------------------------

    def on_office(self, _epoch: int, start_offset: int) -> None:
        assert self._host is not None
        self._host.on_office(start_offset)

    def on_left_office(self, _epoch: int) -> None:
        assert self._host is not None
        self._host.leave_office()

    def on_committed(self, high_watermark: int) -> None:
        assert self._host is not None
        self._feed.on_committed(high_watermark)
        feed = self._feed
        self._host.on_committed(high_watermark, feed.image, in_transaction=feed.in_transaction)

    # --- inside: making it --------------------------------------------------------------------

    def _claim(self) -> LogDirs:
        """Lock every directory, and see that they are ours."""
        world, settings = self._world, self.settings
        log_dirs = LogDirs.open(
            world.disk, settings.log_directories, entropy=world.entropy, node_id=settings.node_id
        )
        self._log_dirs = log_dirs
        path = settings.metadata_log_directory
        if path not in settings.log_directories:
            self._metadata_dir = LogDir(world.disk, path)
            self._metadata_dir.claim()
            identity = log_dirs.identity
            agree(
                {path: self._metadata_dir.meta},
                node_id=identity.node_id,
                cluster_id=identity.cluster_id,
            )
        found = next((one for one in log_dirs.log_dirs if one.path == path), None)
        if found is not None and found.failure is not None:
            raise StorageError(f"metadata.log.dir {path} does not work: {found.failure}")
        return log_dirs

    def _metadata_directory_id(self, log_dirs: LogDirs) -> bytes:
        path = self.settings.metadata_log_directory
        owner = self._metadata_dir or next(one for one in log_dirs.log_dirs if one.path == path)
        assert owner.meta is not None
        if owner.meta.directory_id is None:
            raise StorageError(f"{path}/meta.properties has no directory.id, which a voter needs")
        return owner.meta.directory_id

    def _assemble(self, log_dirs: LogDirs, voters: Voters) -> None:
        """Make every room's part, with nothing running yet."""
        world, settings, log = self._world, self.settings, self._metadata_log
        machine = raft.QuorumMachine(
            voters.me,
            voters.all,
            log.read_quorum_state(),
            log_end_offset=log.end_offset,
            log_epoch=log.last_epoch,
            election_timeout_ms=settings.controller_quorum_election_timeout_ms,
            entropy=world.entropy,
        )
        self._quorum = Quorum(
            world,
            log,
            self._tasks,
            machine,
            kraft_version=voters.kraft_version,
            listener=voters.listener,
            write_voters=voters.are_news,
        )
        cluster_id = log_dirs.identity.cluster_id
        self._host = ControllerHost(
            world,
            self._quorum,
            settings=lambda: controller_settings(self.settings, cluster_id),
            rules=SettingsRules(lambda: self.broker.layers),
            bootstrap=self._bootstrap(),
            is_gone=self._is_our_former_self,
        )
        self.broker = self._make_broker(log_dirs, LocalController(self._host, self._feed))

    def _is_our_former_self(self, registered: Registered) -> bool:
        """A broker of our id that is not this process held the claims that we hold now: it has ended."""
        ours = registered.broker_id == self.node_id
        return ours and registered.incarnation_id != self.broker.incarnation_id

    def _make_broker(self, log_dirs: LogDirs, controller: LocalController) -> Broker:
        world = self._world
        waiting = Waiting(Purgatory(), Purgatory(), Purgatory(), Purgatory())
        metrics = Metrics()
        replicas = Replicas(
            log_dirs=log_dirs,
            waiting=waiting,
            clock=world.clock,
            entropy=world.entropy,
            background=world.background,
            metrics=metrics,
            journal=world.journal,
        )
        replicas.on_directory_lost = self._on_directory_lost
        replicas.on_late = self._on_late
        broker = Broker(
            node_id=self.node_id,
            cluster_id=log_dirs.identity.cluster_id,
            incarnation_id=new_uuid(world.entropy),
            layers=self.layers,
            replicas=replicas,
            log_dirs=log_dirs,
            fetch_sessions=FetchSessions(
                slots=self.settings.max_incremental_fetch_session_cache_slots,
                eviction_ms=SESSION_EVICTION_MS,
                draw_below=world.entropy.below,
            ),
            waiting=waiting,
            controller=controller,
            quorum=self._quorum,
            quotas=Quotas(world.clock),
            producer_ids=ProducerIds(
                controller, node_id=self.node_id, broker_epoch=lambda: self.broker.broker_epoch
            ),
            groups=groups_host(
                self.settings,
                replicas=replicas,
                waiting=waiting,
                clock=world.clock,
                entropy=world.entropy,
                journal=world.journal,
            ),
            metrics=metrics,
            clock=world.clock,
            entropy=world.entropy,
            background=world.background,
            journal=world.journal,
        )
        broker.state = BrokerState.STARTING
        self._host_coordinators(broker)
        self._acceptors = {
            name: Acceptor(broker, listener=name, kind=kind)
            for kind in (BROKER, CONTROLLER)
            for name in [one.name for one in self._listeners.told(kind)]
        }
        return broker

    def _host_coordinators(self, broker: Broker) -> None:
        """What this broker keeps of internal topics, and the way to the others who do."""
        peers = self._peers = Peers(
            self._world.network,
            listener=inter_broker_listener(self.settings),
            image=lambda: broker.image,
            timeout_ms=self.settings.request_timeout_ms,
        )
        broker.peers = peers
        markers = Markers(broker, peers, self._tasks.start)
        broker.hosts[OFFSETS] = broker.groups
        broker.hosts[TRANSACTIONS] = make_host(broker, markers.on_effect)

    def _leave_offices(self) -> None:
        for host in self.broker.hosts.values():
            host.stop()
        self._peers.close()

    async def _serve(self, log_dirs: LogDirs) -> None:
        """Everything from the election to serving."""
        broker, feed, host = self.broker, self._feed, self._host
        assert host is not None
        await host.in_office()
        broker.state = BrokerState.RECOVERY
        image = feed.image
        layers = layers_of(broker.layers, image, self.node_id)
        broker.replicas.prepare(image, layers)
        lifecycle = self._lifecycle = Lifecycle(
            self._world,
            broker,
            told=self._listeners.told(BROKER),
            previous_epoch=_previous_epoch(log_dirs),
            metadata_offset=lambda: feed.published.offset,
        )
        registering = self._tasks.start(self._register(lifecycle), "registration")
        load = partial(
            log_dirs.load,
            broker.replicas.open_log,
            run=self._run_each(layers.settings),
            home=partial(image.home_of, self.node_id),
        )
        await self._world.background.run(load)
        publisher = Publisher(broker, self._world.journal)
        publishing = feed.publish_to(publisher.publish, then=lifecycle.on_published)
        self._tasks.start(publishing, "publishing")
        await registering
        await feed.until(broker.broker_epoch)
        await lifecycle.ready()
        await feed.until_true(lambda one: not one.brokers[self.node_id].fenced)
        snapshots = Snapshots(self._world, self._metadata_log, feed, self._quorum, self.settings)
        self._housekeeping = Housekeeping(self._world, broker, self._tasks, snapshots)
        self._housekeeping.start()
        broker.state = BrokerState.RUNNING
        self._listeners.serve()
        places = {name: str(one) for name, one in self.listeners.items()}
        if self.pages_address is not None:
            places["http"] = str(self.pages_address)
        self._say("serves", **places)

    def _run_each(self, settings: BrokerSettings) -> RunEach:
        """How logs are opened and closed."""
        return self._world.run_each(settings.num_recovery_threads_per_data_dir)

    async def _register(self, lifecycle: Lifecycle) -> None:
        """As a controller, then as a broker; heartbeats from then on."""
        told = self._listeners.told(CONTROLLER)
        request = controller_registration(self.node_id, new_uuid(self._world.entropy), told)
        telling = self._tasks.start(lifecycle.register_controller(request), "controller")
        await lifecycle.register()
        await telling
        self._tasks.start(lifecycle.heartbeats(), "heartbeats")

    # --- inside: living -----------------------------------------------------------------------

    def _accept_for(self, listener: str, _kind: Kind) -> Accept:
        def accept(stream: Stream) -> Owner:
            owner: Owner = self._acceptors[listener].accept(stream)
            return owner

        return accept

    def _figures(self) -> Iterator[Family]:
        """What /metrics shows."""
        from quire.broker.exposition import Cleaning, families  # noqa: PLC0415 -- a start needs none
        from quire.broker.exposition import Quorum as QuorumFigures  # noqa: PLC0415

        quorum = QuorumFigures(
            epoch=self._quorum.epoch,
            leader_id=self._quorum.leader_id,
            high_watermark=self._quorum.high_watermark,
            end_offset=self._quorum.end_offset,
            voters=len(self._quorum.voters),
            published_offset=self._feed.published.offset,
        )
        cleaning = None
        if self._housekeeping is not None:
            schedule = self._housekeeping.cleaner.schedule
            cleaning = Cleaning(schedule.figures, self._world.clock.wall_ms())
        return families(self.broker, quorum, cleaning)

    async def _or_failure(self, work: Coroutine[None, None, None]) -> None:
        """Do the work, unless the node fails meanwhile."""
        working = asyncio.ensure_future(work)
        failing = asyncio.ensure_future(self._tasks.failed())
        try:
            await asyncio.wait({working, failing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise failing.result()
            await working
        finally:
            working.cancel()
            failing.cancel()

    def _on_directory_lost(self, log_dir: LogDir, none_left: StorageError | None) -> None:
        """I4; else the controller learns of it with the next heartbeat, which comes at once."""
        if none_left is not None:
            self._tasks.fail(none_left)
        elif log_dir.path == self.settings.metadata_log_directory:
            error = StorageError(f"metadata.log.dir {log_dir.path} has failed: {log_dir.failure}")
            self._tasks.fail(error)
        elif self._lifecycle is not None:
            self._lifecycle.hurry()

    def _on_late(self, place: TopicPartition) -> None:
        """A replica came without a word of the metadata: coordinators look at it."""
        host = self.broker.hosts.get(place.topic)
        if host is not None:
            host.look_again(place.partition)

    def _bootstrap(self) -> list[Message] | None:
        """What formatting left for the first controller; None where it left nothing."""
        path = f"{self.settings.metadata_log_directory}/{BOOTSTRAP_FILE}"
        if not self._world.disk.exists(path):
            return None
        snapshot = read_snapshot(read_file(self._world.disk, path))
        return [decode_value(value).message for value in snapshot.values]

    def _release(self) -> None:
        for log_dir in (*(self._log_dirs.log_dirs if self._log_dirs else ()), self._metadata_dir):
            if log_dir is not None:
                log_dir.release()

    def _say(self, text: str, **facts: object) -> None:
        self._world.journal.say("node", f"node {self.node_id}", text, **facts)


def check_supported(settings: BrokerSettings) -> None:
    """Refuse what a node of today cannot be, by the name of the setting that asks for it."""
    check_protocols(settings)
    if set(settings.process_roles) != {"broker", "controller"}:
        roles = ",".join(settings.process_roles)
        raise ConfigError(
            f"process.roles is {roles}, but only broker,controller together is served as yet",
            setting="process.roles",
        )
    if len(settings.controller_quorum_voters) > 1:
        raise ConfigError(
            "controller.quorum.voters names several voters, but only one is served as yet",
            setting="controller.quorum.voters",
        )


def metadata_log_settings(settings: BrokerSettings) -> LogSettings:
    """How the metadata log is kept; its retention is that of snapshots."""
    segment_bytes = settings.internal_metadata_log_segment_bytes
    return LogSettings(
        segment_bytes=settings.metadata_log_segment_bytes
        if segment_bytes is None
        else segment_bytes,
        segment_ms=settings.metadata_log_segment_ms,
        max_message_bytes=settings.internal_metadata_max_batch_size_in_bytes,
        retention_ms=UNLIMITED,
        retention_bytes=UNLIMITED,
        file_delete_delay_ms=settings.internal_metadata_delete_delay_millis,
        flush_messages=NEVER,
        flush_ms=NEVER,
    )


def _previous_epoch(log_dirs: LogDirs) -> int:
    """The epoch of the last registration, if every directory says that it ended cleanly in it."""
    epochs = {
        one.clean_shutdown.broker_epoch if one.clean_shutdown is not None else -1
        for one in log_dirs.log_dirs
    }
    return epochs.pop() if len(epochs) == 1 else -1
