"""Everything the cluster knows at one offset of its metadata log: immutable values.

The next image shares with this one all that did not change: a change to a partition copies the
dictionary of its topic and the dictionary of topics, and nothing else (`delta` does it).

Invariants
  I1  An image and everything in it never changes after it was made; dictionaries are not written to.
  I2  `topics` by name and `topic_names` by id describe the same topics.
  I3  `replicas` and `directories` of a partition have the same length, or `directories` is empty.
Not here   how it changes (delta), what of it a broker acts on (node).
See        KIP-631, KIP-966 (ELR), KIP-858 (directories)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from quire.metadata.features import ELR_VERSION, METADATA_VERSION
from quire.types import TopicPartition

NO_LEADER: Final = -1
NO_OFFSET: Final = -1

MIGRATING_DIRECTORY: Final = bytes(16)
UNASSIGNED_DIRECTORY: Final = bytes(15) + b"\x01"
LOST_DIRECTORY: Final = bytes(15) + b"\x02"

TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32

RECOVERED: Final = 0
RECOVERING: Final = 1
"""The leader was elected uncleanly and has not yet told that it recovered."""


class Endpoint(NamedTuple):
    """Where a node listens."""

    name: str
    host: str
    port: int
    security_protocol: int


class LevelRange(NamedTuple):
    """The levels of a feature that a node supports, both inclusive."""

    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Broker:
    """A registered broker."""

    broker_id: int
    broker_epoch: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...] = ()
    features: Mapping[str, LevelRange] = field(default_factory=dict)
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    directories: tuple[bytes, ...] = ()
    cordoned_directories: tuple[bytes, ...] | None = None

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in sync."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online_directory(self, directory: bytes) -> bool:
        """Whether a replica in this directory can be served; unassigned ones count as online."""
        if directory in self.directories:
            return True
        return directory in (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)


@dataclass(frozen=True, slots=True)
class Controller:
    """A registered controller."""

    controller_id: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...] = ()
    features: Mapping[str, LevelRange] = field(default_factory=dict)
    zk_migration_ready: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition: who holds it, who is in sync, who leads."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int = NO_LEADER
    leader_epoch: int = 0
    partition_epoch: int = 0
    directories: tuple[bytes, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    """Eligible leader replicas: not in sync, but known to hold everything committed."""
    last_known_elr: tuple[int, ...] = ()
    leader_recovery_state: int = RECOVERED

    @property
    def preferred_leader(self) -> int:
        return self.replicas[0]

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding_replicas or self.removing_replicas)

    def directory_of(self, broker_id: int) -> bytes:
        """The log directory of a replica, or the sign for "before directories were known"."""
        if broker_id not in self.replicas or not self.directories:
            return MIGRATING_DIRECTORY
        return self.directories[self.replicas.index(broker_id)]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its partitions by index."""

    name: str
    topic_id: bytes
    partitions: Mapping[int, Partition] = field(default_factory=dict)


class QuotaEntity(NamedTuple):
    """One part of what a quota is for: a type (user, client-id, ip) and a name, None the default."""

    entity_type: str
    entity_name: str | None


QuotaKey = tuple[QuotaEntity, ...]
"""The parts of a quota's entity, sorted by type."""


class AccessRule(NamedTuple):
    """One access rule: who may, or may not, do what to what."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class ScramKey(NamedTuple):
    """A user may have one credential per mechanism."""

    mechanism: int
    name: str


class ScramCredential(NamedTuple):
    """What a server keeps of a password."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class DelegationToken(NamedTuple):
    """A token as the log tells of it; its secret follows from the cluster's master key."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int


class ConfigResource(NamedTuple):
    """What settings belong to; the empty name of type BROKER means all brokers."""

    resource_type: int
    name: str


CLUSTER_DEFAULTS: Final = ConfigResource(BROKER, "")


@dataclass(frozen=True, slots=True)
class Image:
    """All metadata at one offset."""

    offset: int = NO_OFFSET
    """Of the last record that counts."""
    quorum_epoch: int = -1
    features: Mapping[str, int] = field(default_factory=dict)
    brokers: Mapping[int, Broker] = field(default_factory=dict)
    controllers: Mapping[int, Controller] = field(default_factory=dict)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    topic_names: Mapping[bytes, str] = field(default_factory=dict)
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)
    quotas: Mapping[QuotaKey, Mapping[str, float]] = field(default_factory=dict)
    next_producer_id: int = 0
    acls: Mapping[bytes, AccessRule] = field(default_factory=dict)
    scram: Mapping[ScramKey, ScramCredential] = field(default_factory=dict)
    tokens: Mapping[str, DelegationToken] = field(default_factory=dict)

    @property
    def metadata_version(self) -> int:
        """The finalized level; the floor before anything was finalized."""
        return self.features.get(METADATA_VERSION, 7)

    @property
    def has_elr(self) -> bool:
        """Whether eligible leader replicas are kept."""
        return self.features.get(ELR_VERSION, 0) > 0

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def partition(self, topic_id: bytes, index: int) -> Partition | None:
        topic = self.topic_by_id(topic_id)
        return None if topic is None else topic.partitions.get(index)

    def partitions(self) -> Iterator[tuple[Topic, int, Partition]]:
        """Every partition of every topic."""
        for topic in self.topics.values():
            for index, partition in topic.partitions.items():
                yield topic, index, partition

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The settings of one resource; empty when it has none."""
        return self.configs.get(ConfigResource(resource_type, name), {})

    def leader_of(self, place: TopicPartition) -> int:
        """Who leads; NO_LEADER also when there is no such partition."""
        topic = self.topics.get(place.topic)
        partition = topic.partitions.get(place.partition) if topic else None
        return NO_LEADER if partition is None else partition.leader

    def home_of(self, broker_id: int, place: TopicPartition) -> bytes | None:
        """The log directory of a broker's replica; None when there is no such partition."""
        topic = self.topics.get(place.topic)
        partition = topic.partitions.get(place.partition) if topic else None
        return None if partition is None else partition.directory_of(broker_id)


EMPTY: Final = Image()
