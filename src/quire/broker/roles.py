"""What the metadata makes of the replicas that are here: leader or follower, under which settings, in which directory.

    give           one replica leads or follows from now on
    reconfigure    settings of topics or of the broker are others now
    note_brokers   brokers came or went: who may be in sync has changed

Invariants
  I1  A replica of which this broker is not the leader asks the controller for nothing.
  I2  The leader of an epoch begins where the log ends, and notes that in the history of epochs before anything else.
Not here   which replicas are here (replicas), what a leader decides (replication.leader), who asks the
           controller (node.reports).
See        KIP-497, KIP-858
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quire.broker.journal import Journal
from quire.broker.replica import Replica
from quire.config.layers import BrokerLayers
from quire.config.topic import TopicSettings, log_values
from quire.metadata.delta import Touched
from quire.metadata.image import BROKER, EMPTY, TOPIC, Image, Partition
from quire.ports.clock import Clock
from quire.replication.leader import AlterPartition, Leader, Role
from quire.storage.settings import LogSettings


class Roles:
    """See the module. `advance` and `changed` are told what becomes of a replica by its new role."""

    def __init__(
        self,
        *,
        clock: Clock,
        journal: Journal,
        advance: Callable[[Replica, int], object],
        changed: Callable[[Replica], None],
    ) -> None:
        self.isr_changes: dict[Replica, AlterPartition] = {}
        """What the controller must be asked for; whoever asks takes them out."""
        self.unreported: dict[tuple[bytes, int], bytes] = {}
        """(Topic id, partition) -> the id of the directory it is in, where the metadata says something else."""
        self.bound_for: dict[tuple[bytes, int], bytes] = {}
        """(Topic id, partition) -> the id of the directory where it will be in a moment."""
        self._clock = clock
        self._journal = journal
        self._advance = advance
        self._changed = changed
        self._image: Image = EMPTY
        self._layers: BrokerLayers | None = None
        self._active: dict[int, int] = {}
        """Brokers that may join an in-sync set, and their epochs."""

    def see(self, image: Image, layers: BrokerLayers) -> bool:
        """Go by these from now on; whether settings of the broker are others."""
        is_new = layers is not self._layers
        self._image, self._layers = image, layers
        return is_new

    # --- what is said -------------------------------------------------------------------------

    @property
    def node_id(self) -> int:
        assert self._layers is not None
        return self._layers.settings.node_id

    @property
    def file_delete_delay_ms(self) -> int:
        """How long the files of a removed partition stay."""
        assert self._layers is not None
        return self._layers.topic().file_delete_delay_ms

    @property
    def move_bytes_per_second(self) -> int:
        """How fast replicas may move from one directory to another."""
        assert self._layers is not None
        return self._layers.settings.replica_alter_log_dirs_io_max_bytes_per_second

    def is_cordoned(self, directory: str) -> bool:
        """Whether a log directory gets no new replicas."""
        assert self._layers is not None
        return self._layers.settings.is_cordoned(directory)

    def settings_of(self, topic: str) -> tuple[TopicSettings, LogSettings]:
        """Those of a topic, and of its logs. Any thread may ask."""
        assert self._layers is not None
        settings = self._layers.topic(self._image.config(TOPIC, topic))
        return settings, LogSettings(**log_values(settings, self._layers.settings))

    # --- what it makes of replicas ------------------------------------------------------------

    def give(self, replica: Replica, partition: Partition) -> None:
        """It is what the metadata says of its partition."""
        self._report_directory(replica, partition)
        is_new = partition.leader_epoch != replica.leader_epoch
        replica.leader_id, replica.leader_epoch = partition.leader, partition.leader_epoch
        if partition.leader == self.node_id:
            self._lead(replica, partition)
        else:
            replica.leader = None
            self.isr_changes.pop(replica, None)  # I1
        if is_new:
            self._journal.say(
                "replicas",
                str(replica.topic_partition),
                "leads" if replica.leader is not None else f"follows {partition.leader}",
                epoch=partition.leader_epoch,
                leo=replica.log.log_end_offset,
                hw=replica.log.high_watermark,
            )
            self._changed(replica)

    def reconfigure(
        self, replicas: Iterable[Replica], touched: Touched, *, everything: bool
    ) -> None:
        """Give replicas the settings that changed."""
        everything = everything or any(one.resource_type == BROKER for one in touched.configs)
        names = {one.name for one in touched.configs if one.resource_type == TOPIC}
        if not (everything or names):
            return
        now_ms = self._clock.monotonic_ms()
        for replica in replicas:
            topic = replica.topic_partition.topic
            if not everything and topic not in names:
                continue
            settings, log_settings = self.settings_of(topic)
            replica.configure(settings, log_settings)
            if replica.leader is not None:
                high_watermark = replica.leader.on_settings(
                    min_insync_replicas=settings.min_insync_replicas,
                    replica_lag_ms=self._replica_lag_ms(),
                    now_ms=now_ms,
                )
                self._advance(replica, high_watermark)

    def note_brokers(self, replicas: Iterable[Replica]) -> None:
        """Tell leaders who may be in sync."""
        self._active = {
            broker.broker_id: broker.broker_epoch
            for broker in self._image.brokers.values()
            if broker.is_active
        }
        for replica in replicas:
            if replica.leader is not None:
                replica.leader.on_brokers(self._active)

    def forget(self, replica: Replica) -> None:
        """It is not here any more."""
        self.isr_changes.pop(replica, None)
        self.unreported.pop((replica.topic_id, replica.topic_partition.partition), None)

    def _lead(self, replica: Replica, partition: Partition) -> None:
        now_ms = self._clock.monotonic_ms()
        role = Role(
            partition.leader_epoch, partition.partition_epoch, partition.isr, partition.replicas
        )
        leader = replica.leader
        if leader is not None and leader.leader_epoch == role.leader_epoch:
            high_watermark = leader.on_role(role, now_ms)
        else:
            log = replica.log
            log.leader_epochs.assign(role.leader_epoch, log.log_end_offset)  # I2
            leader = replica.leader = Leader(
                self.node_id,
                role,
                log_end_offset=log.log_end_offset,
                high_watermark=log.high_watermark,
                min_insync_replicas=replica.settings.min_insync_replicas,
                replica_lag_ms=self._replica_lag_ms(),
                now_ms=now_ms,
            )
            leader.on_brokers(self._active)
            high_watermark = leader.high_watermark
        self._advance(replica, high_watermark)

    def _report_directory(self, replica: Replica, partition: Partition) -> None:
        """Where the replica is (or will be in a moment), if the metadata does not know it."""
        key = (replica.topic_id, replica.topic_partition.partition)
        meta = replica.hosted.log_dir.meta
        here = self.bound_for.get(key, None if meta is None else meta.directory_id)
        if here is None or partition.directory_of(self.node_id) == here:
            self.unreported.pop(key, None)
        else:
            self.unreported[key] = here

    def _replica_lag_ms(self) -> int:
        assert self._layers is not None
        return self._layers.settings.replica_lag_time_max_ms
