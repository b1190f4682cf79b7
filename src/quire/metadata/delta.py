"""Changes on top of an image: records come in, the next image and a list of what they touched come out.

A dictionary is copied the first time something in it changes, and never again within one delta;
what nothing touched is shared by the old image and the new one.

Invariants
  I1  The image below is never written to.
  I2  Replaying the records of a log in any number of deltas gives equal images.
  I3  A record that speaks of what is not there raises MetadataError: the log and we disagree.
Not here   transactions and offsets (replay), what a broker does about a change (node).
See        docs/formats/metadata-log.md, KIP-631
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, TypeVar

from quire.errors import QuireError
from quire.metadata.image import (
    AccessRule,
    Broker,
    ConfigResource,
    Controller,
    DelegationToken,
    Endpoint,
    Image,
    LevelRange,
    Partition,
    QuotaEntity,
    QuotaKey,
    ScramCredential,
    ScramKey,
    Topic,
)
from quire.metadata.records import Message
from quire.protocol.messages import metadata_records as records

K = TypeVar("K")
V = TypeVar("V")


class MetadataError(QuireError):
    """A record that cannot be applied to the image before it."""


@dataclass(slots=True)
class Touched:
    """What a delta changed, for those who act on it; each in the order it was first touched."""

    features: dict[str, None] = field(default_factory=dict)
    brokers: dict[int, None] = field(default_factory=dict)
    controllers: dict[int, None] = field(default_factory=dict)
    created_topics: dict[bytes, str] = field(default_factory=dict)
    deleted_topics: dict[bytes, str] = field(default_factory=dict)
    partitions: dict[tuple[bytes, int], None] = field(default_factory=dict)
    """Made or changed, by topic id and index."""
    configs: dict[ConfigResource, None] = field(default_factory=dict)
    quotas: dict[QuotaKey, None] = field(default_factory=dict)
    acls: dict[bytes, None] = field(default_factory=dict)
    scram: dict[ScramKey, None] = field(default_factory=dict)
    tokens: dict[str, None] = field(default_factory=dict)
    producer_ids: bool = False


_COLLECTIONS: Final = (
    "features", "brokers", "controllers", "topics", "topic_names", "configs", "quotas", "acls",
    "scram", "tokens",
)  # fmt: skip


class Delta:
    """Records on their way into the next image."""

    __slots__ = ("_fresh", "_partitions", "before", "next_producer_id", "touched")

    def __init__(self, before: Image) -> None:
        self.before = before
        self.touched = Touched()
        self.next_producer_id = before.next_producer_id
        self._fresh: dict[str, dict[Any, Any]] = {}
        self._partitions: dict[str, dict[int, Partition]] = {}
        """Topic name -> a copy of its partitions that only this delta knows."""

    def replay(self, message: Message) -> None:
        """Take in one record."""
        apply = self._APPLY.get(type(message))
        if apply is None:
            raise MetadataError(f"{type(message).__name__} has no place in an image")
        apply(self, message)

    def apply(self, offset: int, quorum_epoch: int) -> Image:
        """The image after these records; the delta must not be used again."""
        topics = self._fresh.get("topics")
        for name, partitions in self._partitions.items():
            assert topics is not None
            topics[name] = replace(topics[name], partitions=partitions)
        return replace(
            self.before,
            offset=offset,
            quorum_epoch=quorum_epoch,
            next_producer_id=self.next_producer_id,
            **self._fresh,
        )

    def changed_leaders(self) -> list[tuple[bytes, int]]:
        """Existing partitions whose leader or in-sync set is another one now; ask before `apply`."""
        changed = []
        for topic_id, index in self.touched.partitions:
            old = self.before.partition(topic_id, index)
            new = self.partition(topic_id, index)
            if new is not None and (
                old is None
                or (old.leader, old.leader_epoch, old.isr)
                != (new.leader, new.leader_epoch, new.isr)
            ):
                changed.append((topic_id, index))
        return changed

    def partition(self, topic_id: bytes, index: int) -> Partition | None:
        """A partition as it stands after the records so far."""
        name = self._now("topic_names").get(topic_id)
        if name is None:
            return None
        topic: Topic = self._now("topics")[name]
        return self._partitions.get(name, topic.partitions).get(index)

    # --- what records do ----------------------------------------------------------------------

    def _now(self, collection: str) -> Mapping[Any, Any]:
        found: Mapping[Any, Any] = self._fresh.get(collection) or getattr(self.before, collection)
        return self._fresh.get(collection, found)

    def _own(self, collection: str) -> dict[Any, Any]:
        fresh = self._fresh.get(collection)
        if fresh is None:
            assert collection in _COLLECTIONS
            fresh = self._fresh[collection] = dict(getattr(self.before, collection))
        return fresh

    def _topic_of(self, topic_id: bytes, what: str) -> str:
        name: str | None = self._now("topic_names").get(topic_id)
        if name is None:
            raise MetadataError(f"{what} of a topic that is not there: {topic_id.hex()}")
        return name

    def _own_partitions(self, name: str) -> dict[int, Partition]:
        found = self._partitions.get(name)
        if found is None:
            found = self._partitions[name] = dict(self._own("topics")[name].partitions)
        return found

    def _feature(self, message: records.FeatureLevelRecord) -> None:
        if message.feature_level == 0:
            self._own("features").pop(message.name, None)
        else:
            self._own("features")[message.name] = message.feature_level
        self.touched.features[message.name] = None

    def _register_broker(self, message: records.RegisterBrokerRecord) -> None:
        cordoned = message.cordoned_log_dirs
        self._own("brokers")[message.broker_id] = Broker(
            broker_id=message.broker_id,
            broker_epoch=message.broker_epoch,
            incarnation_id=message.incarnation_id,
            endpoints=_endpoints(message.end_points),
            features=_ranges(message.features),
            rack=message.rack,
            fenced=message.fenced,
            in_controlled_shutdown=message.in_controlled_shutdown,
            directories=tuple(message.log_dirs),
            cordoned_directories=None if cordoned is None else tuple(cordoned),
        )
        self.touched.brokers[message.broker_id] = None

    def _broker_at(self, broker_id: int, broker_epoch: int, what: str) -> Broker:
        found: Broker | None = self._now("brokers").get(broker_id)
        if found is None or found.broker_epoch != broker_epoch:
            raise MetadataError(f"{what} of broker {broker_id} at epoch {broker_epoch}: not there")
        return found

    def _unregister_broker(self, message: records.UnregisterBrokerRecord) -> None:
        self._broker_at(message.broker_id, message.broker_epoch, "unregistration")
        del self._own("brokers")[message.broker_id]
        self.touched.brokers[message.broker_id] = None

    def _change_broker(self, message: records.BrokerRegistrationChangeRecord) -> None:
        broker = self._broker_at(message.broker_id, message.broker_epoch, "change")
        cordoned = message.cordoned_log_dirs
        self._own("brokers")[broker.broker_id] = replace(
            broker,
            fenced=message.fenced > 0 if message.fenced else broker.fenced,
            in_controlled_shutdown=bool(message.in_controlled_shutdown)
            or broker.in_controlled_shutdown,
            directories=tuple(message.log_dirs) or broker.directories,
            cordoned_directories=broker.cordoned_directories
            if cordoned is None
            else tuple(cordoned),
        )
        self.touched.brokers[broker.broker_id] = None

    def _fence_broker(self, message: records.FenceBrokerRecord) -> None:
        broker = self._broker_at(message.id, message.epoch, "fencing")
        self._own("brokers")[broker.broker_id] = replace(broker, fenced=True)
        self.touched.brokers[broker.broker_id] = None

    def _unfence_broker(self, message: records.UnfenceBrokerRecord) -> None:
        broker = self._broker_at(message.id, message.epoch, "unfencing")
        self._own("brokers")[broker.broker_id] = replace(broker, fenced=False)
        self.touched.brokers[broker.broker_id] = None

    def _register_controller(self, message: records.RegisterControllerRecord) -> None:
        self._own("controllers")[message.controller_id] = Controller(
            controller_id=message.controller_id,
            incarnation_id=message.incarnation_id,
            endpoints=_endpoints(message.end_points),
            features=_ranges(message.features),
            zk_migration_ready=message.zk_migration_ready,
        )
        self.touched.controllers[message.controller_id] = None

    def _topic(self, message: records.TopicRecord) -> None:
        if message.name in self._now("topics"):
            raise MetadataError(f"topic {message.name!r} made while it exists")
        self._own("topics")[message.name] = Topic(message.name, message.topic_id)
        self._own("topic_names")[message.topic_id] = message.name
        self.touched.created_topics[message.topic_id] = message.name

    def _remove_topic(self, message: records.RemoveTopicRecord) -> None:
        name = self._topic_of(message.topic_id, "removal")
        del self._own("topic_names")[message.topic_id]
        del self._own("topics")[name]
        self._partitions.pop(name, None)
        resource = ConfigResource(2, name)
        if resource in self._now("configs"):
            del self._own("configs")[resource]
            self.touched.configs[resource] = None
        if message.topic_id in self.touched.created_topics:
            del self.touched.created_topics[message.topic_id]
        else:
            self.touched.deleted_topics[message.topic_id] = name

    def _partition(self, message: records.PartitionRecord) -> None:
        name = self._topic_of(message.topic_id, "partition")
        self._own_partitions(name)[message.partition_id] = Partition(
            replicas=tuple(message.replicas),
            isr=tuple(message.isr),
            leader=message.leader,
            leader_epoch=message.leader_epoch,
            partition_epoch=message.partition_epoch,
            directories=tuple(message.directories),
            removing_replicas=tuple(message.removing_replicas),
            adding_replicas=tuple(message.adding_replicas),
            elr=tuple(message.eligible_leader_replicas or ()),
            last_known_elr=tuple(message.last_known_elr or ()),
            leader_recovery_state=message.leader_recovery_state,
        )
        self.touched.partitions[message.topic_id, message.partition_id] = None

    def _change_partition(self, message: records.PartitionChangeRecord) -> None:
        name = self._topic_of(message.topic_id, "partition change")
        partitions = self._own_partitions(name)
        before = partitions.get(message.partition_id)
        if before is None:
            raise MetadataError(f"change of {name}-{message.partition_id}, which is not there")
        partitions[message.partition_id] = changed_partition(before, message)
        self.touched.partitions[message.topic_id, message.partition_id] = None

    def _clear_elr(self, message: records.ClearElrRecord) -> None:
        topics = self._now("topics")
        names = [message.topic_name] if message.topic_name else list(topics)
        for name in names:
            if name not in topics:
                raise MetadataError(f"ELR cleared of topic {name!r}, which is not there")
            topic: Topic = topics[name]
            for index, partition in self._partitions.get(name, topic.partitions).items():
                if partition.elr or partition.last_known_elr:
                    self.touched.partitions[topic.topic_id, index] = None
            if any(
                (topic.topic_id, index) in self.touched.partitions for index in topic.partitions
            ):
                own = self._own_partitions(name)
                for index, partition in own.items():
                    own[index] = replace(partition, elr=(), last_known_elr=())

    def _config(self, message: records.ConfigRecord) -> None:
        resource = ConfigResource(message.resource_type, message.resource_name)
        settings = dict(self._now("configs").get(resource, {}))
        if message.value is None:
            settings.pop(message.name, None)
        else:
            settings[message.name] = message.value
        _put(self._own("configs"), resource, settings)
        self.touched.configs[resource] = None

    def _quota(self, message: records.ClientQuotaRecord) -> None:
        key = quota_key((part.entity_type, part.entity_name) for part in message.entity)
        values = dict(self._now("quotas").get(key, {}))
        if message.remove:
            values.pop(message.key, None)
        else:
            values[message.key] = message.value
        _put(self._own("quotas"), key, values)
        self.touched.quotas[key] = None

    def _producer_ids(self, message: records.ProducerIdsRecord) -> None:
        self.next_producer_id = message.next_producer_id
        self.touched.producer_ids = True

    def _access_rule(self, message: records.AccessControlEntryRecord) -> None:
        self._own("acls")[message.id] = AccessRule(
            message.resource_type,
            message.resource_name,
            message.pattern_type,
            message.principal,
            message.host,
            message.operation,
            message.permission_type,
        )
        self.touched.acls[message.id] = None

    def _remove_access_rule(self, message: records.RemoveAccessControlEntryRecord) -> None:
        if self._own("acls").pop(message.id, None) is None:
            raise MetadataError(f"removal of access rule {message.id.hex()}, which is not there")
        self.touched.acls[message.id] = None

    def _scram(self, message: records.UserScramCredentialRecord) -> None:
        key = ScramKey(message.mechanism, message.name)
        self._own("scram")[key] = ScramCredential(
            message.salt, message.stored_key, message.server_key, message.iterations
        )
        self.touched.scram[key] = None

    def _remove_scram(self, message: records.RemoveUserScramCredentialRecord) -> None:
        key = ScramKey(message.mechanism, message.name)
        if self._own("scram").pop(key, None) is None:
            raise MetadataError(f"removal of a credential of {message.name!r} that is not there")
        self.touched.scram[key] = None

    def _token(self, message: records.DelegationTokenRecord) -> None:
        self._own("tokens")[message.token_id] = DelegationToken(
            message.token_id,
            message.owner,
            message.requester,
            tuple(message.renewers),
            message.issue_timestamp,
            message.max_timestamp,
            message.expiration_timestamp,
        )
        self.touched.tokens[message.token_id] = None

    def _remove_token(self, message: records.RemoveDelegationTokenRecord) -> None:
        if self._own("tokens").pop(message.token_id, None) is None:
            raise MetadataError(f"removal of token {message.token_id!r}, which is not there")
        self.touched.tokens[message.token_id] = None

    def _nothing(self, _message: Message) -> None:
        """A record that only lets time pass, or tells of a migration long over."""

    _APPLY: ClassVar[Mapping[type, Callable[[Delta, Any], None]]] = {
        records.RegisterBrokerRecord: _register_broker,
        records.UnregisterBrokerRecord: _unregister_broker,
        records.TopicRecord: _topic,
        records.PartitionRecord: _partition,
        records.ConfigRecord: _config,
        records.PartitionChangeRecord: _change_partition,
        records.FenceBrokerRecord: _fence_broker,
        records.UnfenceBrokerRecord: _unfence_broker,
        records.RemoveTopicRecord: _remove_topic,
        records.DelegationTokenRecord: _token,
        records.UserScramCredentialRecord: _scram,
        records.FeatureLevelRecord: _feature,
        records.ClientQuotaRecord: _quota,
        records.ProducerIdsRecord: _producer_ids,
        records.BrokerRegistrationChangeRecord: _change_broker,
        records.AccessControlEntryRecord: _access_rule,
        records.RemoveAccessControlEntryRecord: _remove_access_rule,
        records.NoOpRecord: _nothing,
        records.ZkMigrationStateRecord: _nothing,
        records.RemoveUserScramCredentialRecord: _remove_scram,
        records.RemoveDelegationTokenRecord: _remove_token,
        records.RegisterControllerRecord: _register_controller,
        records.ClearElrRecord: _clear_elr,
    }


def changed_partition(before: Partition, change: records.PartitionChangeRecord) -> Partition:
    """The partition after a change: the partition epoch rises by one, the leader epoch only when
    the change names a leader.
    """
    names_leader = change.leader != UNCHANGED_LEADER
    state = change.leader_recovery_state
    return Partition(
        replicas=_either(change.replicas, before.replicas),
        isr=_either(change.isr, before.isr),
        leader=change.leader if names_leader else before.leader,
        leader_epoch=before.leader_epoch + names_leader,
        partition_epoch=before.partition_epoch + 1,
        directories=_either(change.directories, before.directories),
        removing_replicas=_either(change.removing_replicas, before.removing_replicas),
        adding_replicas=_either(change.adding_replicas, before.adding_replicas),
        elr=_either(change.eligible_leader_replicas, before.elr),
        last_known_elr=_either(change.last_known_elr, before.last_known_elr),
        leader_recovery_state=before.leader_recovery_state if state == UNCHANGED_STATE else state,
    )


UNCHANGED_LEADER: Final = -2
UNCHANGED_STATE: Final = -1


def quota_key(parts: Any) -> QuotaKey:
    """The parts of a quota's entity in their one order."""
    return tuple(sorted((QuotaEntity(*part) for part in parts), key=lambda part: part.entity_type))


def _either(new: list[V] | None, old: tuple[V, ...]) -> tuple[V, ...]:
    return old if new is None else tuple(new)


def _put(target: dict[K, Any], key: K, values: dict[str, Any]) -> None:
    """A resource or entity without values is not kept."""
    if values:
        target[key] = values
    else:
        target.pop(key, None)


def _endpoints(listed: Any) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(one.name, one.host, one.port, one.security_protocol) for one in listed)


def _ranges(listed: Any) -> dict[str, LevelRange]:
    return {
        one.name: LevelRange(one.min_supported_version, one.max_supported_version) for one in listed
    }
