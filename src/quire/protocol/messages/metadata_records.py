"""The records of the metadata log, by which the controller tells the brokers everything."""

from __future__ import annotations

from quire.protocol.schema import (
    Bool,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt16,
    Uuid,
    field,
    message,
    structure,
)


@structure
class BrokerEndpoint:
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


@structure
class BrokerFeature:
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=0, kind="metadata", versions=(0, 4), flexible=0)
class RegisterBrokerRecord:
    """A broker registered. v3 log directories (KIP-858) · v4 cordoned ones (KIP-1066)."""

    broker_id: Int32
    is_migrating_zk_broker: Bool = field(since=2, default=False)
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: Bool = field(default=True)
    in_controlled_shutdown: Bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=3, tag=0, default=[])
    cordoned_log_dirs: list[Uuid] | None = field(since=4, tag=1, default=None)


@message(key=1, kind="metadata", versions=(0, 0), flexible=0)
class UnregisterBrokerRecord:
    """A broker was removed."""

    broker_id: Int32
    broker_epoch: Int64


@message(key=2, kind="metadata", versions=(0, 0), flexible=0)
class TopicRecord:
    """A topic came to be."""

    name: str
    topic_id: Uuid


@message(key=3, kind="metadata", versions=(0, 2), flexible=0)
class PartitionRecord:
    """A partition as a whole. v1 directories (KIP-858) · v2 ELR (KIP-966)."""

    partition_id: Int32 = field(default=-1)
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = field(default=-1)
    leader_recovery_state: Int8 = field(tag=0, default=0)
    leader_epoch: Int32 = field(default=-1)
    partition_epoch: Int32 = field(default=-1)
    directories: list[Uuid] = field(since=1, default=[])
    eligible_leader_replicas: list[Int32] | None = field(since=2, tag=1, default=None)
    last_known_elr: list[Int32] | None = field(since=2, tag=2, default=None)


@message(key=4, kind="metadata", versions=(0, 0), flexible=0)
class ConfigRecord:
    """A setting was set or removed."""

    resource_type: Int8
    resource_name: str
    name: str
    value: str | None


@message(key=5, kind="metadata", versions=(0, 2), flexible=0)
class PartitionChangeRecord:
    """What changed in a partition, each change in a tag. v1 directories (KIP-858) · v2 ELR
    (KIP-966).
    """

    partition_id: Int32 = field(default=-1)
    topic_id: Uuid
    isr: list[Int32] | None = field(tag=0, default=None)
    leader: Int32 = field(tag=1, default=-2)
    replicas: list[Int32] | None = field(tag=2, default=None)
    removing_replicas: list[Int32] | None = field(tag=3, default=None)
    adding_replicas: list[Int32] | None = field(tag=4, default=None)
    leader_recovery_state: Int8 = field(tag=5, default=-1)
    directories: list[Uuid] | None = field(since=1, tag=8, default=None)
    eligible_leader_replicas: list[Int32] | None = field(since=2, tag=6, default=None)
    last_known_elr: list[Int32] | None = field(since=2, tag=7, default=None)


@message(key=7, kind="metadata", versions=(0, 0), flexible=0)
class FenceBrokerRecord:
    """A broker was fenced; older form of BrokerRegistrationChangeRecord."""

    id: Int32
    epoch: Int64


@message(key=8, kind="metadata", versions=(0, 0), flexible=0)
class UnfenceBrokerRecord:
    """A broker was unfenced; older form of BrokerRegistrationChangeRecord."""

    id: Int32
    epoch: Int64


@message(key=9, kind="metadata", versions=(0, 0), flexible=0)
class RemoveTopicRecord:
    """A topic is gone."""

    topic_id: Uuid


@message(key=10, kind="metadata", versions=(0, 0), flexible=0)
class DelegationTokenRecord:
    """A delegation token was made or renewed."""

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: str


@message(key=11, kind="metadata", versions=(0, 0), flexible=0)
class UserScramCredentialRecord:
    """A SCRAM credential was put (KIP-900)."""

    name: str
    mechanism: Int8
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: Int32


@message(key=12, kind="metadata", versions=(0, 0), flexible=0)
class FeatureLevelRecord:
    """A feature's finalized level changed (KIP-584)."""

    name: str
    feature_level: Int16


@structure
class EntityData:
    entity_type: str
    entity_name: str | None


@message(key=14, kind="metadata", versions=(0, 0), flexible=0)
class ClientQuotaRecord:
    """A quota value was set or removed (KIP-546)."""

    entity: list[EntityData]
    key: str
    value: Float64
    remove: Bool


@message(key=15, kind="metadata", versions=(0, 0), flexible=0)
class ProducerIdsRecord:
    """A block of producer ids was given out (KIP-730)."""

    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)
    next_producer_id: Int64


@message(key=17, kind="metadata", versions=(0, 3), flexible=0)
class BrokerRegistrationChangeRecord:
    """A registration changed: fencing, shutdown, log directories (KIP-841, KIP-858)."""

    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(tag=0, default=0)
    in_controlled_shutdown: Int8 = field(since=1, tag=1, default=0)
    log_dirs: list[Uuid] = field(since=2, tag=2, default=[])
    cordoned_log_dirs: list[Uuid] | None = field(since=3, tag=3, default=None)


@message(key=18, kind="metadata", versions=(0, 0), flexible=0)
class AccessControlEntryRecord:
    """An access rule was added."""

    id: Uuid
    resource_type: Int8
    resource_name: str
    pattern_type: Int8
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@message(key=19, kind="metadata", versions=(0, 0), flexible=0)
class RemoveAccessControlEntryRecord:
    """An access rule was removed."""

    id: Uuid


@message(key=20, kind="metadata", versions=(0, 0), flexible=0)
class NoOpRecord:
    """Nothing happened, and time went on (KIP-835)."""


@message(key=21, kind="metadata", versions=(0, 0), flexible=0)
class ZkMigrationStateRecord:
    """Where a migration of older clusters stood (KIP-866); only read."""

    zk_migration_state: Int8


@message(key=22, kind="metadata", versions=(0, 0), flexible=0)
class RemoveUserScramCredentialRecord:
    """A SCRAM credential is gone (KIP-900)."""

    name: str
    mechanism: Int8


@message(key=23, kind="metadata", versions=(0, 0), flexible=0)
class BeginTransactionRecord:
    """What follows counts only at its end (KIP-868)."""

    name: str | None = field(tag=0, default=None)


@message(key=24, kind="metadata", versions=(0, 0), flexible=0)
class EndTransactionRecord:
    """The metadata transaction counts now (KIP-868)."""


@message(key=25, kind="metadata", versions=(0, 0), flexible=0)
class AbortTransactionRecord:
    """The metadata transaction in progress does not count (KIP-868)."""

    reason: str | None = field(tag=0, default=None)


@message(key=26, kind="metadata", versions=(0, 0), flexible=0)
class RemoveDelegationTokenRecord:
    """A delegation token is gone."""

    token_id: str


@structure
class ControllerEndpoint:
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


@structure
class ControllerFeature:
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=27, kind="metadata", versions=(0, 0), flexible=0)
class RegisterControllerRecord:
    """A controller registered (KIP-919)."""

    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]


@message(key=28, kind="metadata", versions=(0, 0), flexible=0)
class ClearElrRecord:
    """The eligible leader replicas of one topic, or all, are forgotten (KIP-966)."""

    topic_name: str
