"""An image written out as the records that make it, and read back.

The sections follow one another as Apache Kafka writes them: features (metadata.version first),
brokers, controllers, topics each before its partitions, configs, client quotas, producer ids,
access rules, SCRAM credentials, tokens. Within a section the order has no meaning; ours is that of
the image, which makes the same image give the same bytes.

Invariants
  I1  The image of an image's records equals it, but for offset and epoch, which name the snapshot.
Not here   header, voters and footer of the file (raft), files (storage).
See        docs/formats/metadata-log.md, KIP-630
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quire.metadata.features import METADATA_VERSION
from quire.metadata.image import Broker, Controller, Image, LevelRange, Partition
from quire.metadata.records import (
    Message,
    MetadataRecord,
    register_broker_version,
    versioned,
)
from quire.metadata.replay import Replay
from quire.protocol.messages import metadata_records as records


def snapshot_records(image: Image) -> Iterator[MetadataRecord]:
    """The records of a snapshot of this image, in order."""
    level, with_elr = image.metadata_version, image.has_elr
    for message in _messages(image):
        yield versioned(message, level, with_elr=with_elr)


def image_of(messages: Iterable[Message], *, offset: int, quorum_epoch: int) -> Image:
    """The image that a snapshot's records make; `offset` is that of the last record it contains."""
    replay = Replay()
    replay.load(messages, last_offset=offset, quorum_epoch=quorum_epoch)
    return replay.image


def _messages(image: Image) -> Iterator[Message]:
    yield from _features(image)
    for broker in image.brokers.values():
        yield broker_record(broker, image.metadata_version)
    for controller in image.controllers.values():
        yield _controller(controller)
    yield from _topics(image)
    for resource, settings in image.configs.items():
        for name, value in settings.items():
            yield records.ConfigRecord(
                resource_type=resource.resource_type,
                resource_name=resource.name,
                name=name,
                value=value,
            )
    yield from _quotas(image)
    if image.next_producer_id:
        yield records.ProducerIdsRecord(broker_id=-1, next_producer_id=image.next_producer_id)
    yield from _access(image)


def _features(image: Image) -> Iterator[Message]:
    names = sorted(image.features, key=lambda name: (name != METADATA_VERSION, name))
    for name in names:
        yield records.FeatureLevelRecord(name=name, feature_level=image.features[name])


def broker_record(broker: Broker, metadata_version: int) -> records.RegisterBrokerRecord:
    """A broker's registration as it stands, as one record."""
    version = register_broker_version(metadata_version)
    cordoned = broker.cordoned_directories if version >= 4 else None
    return records.RegisterBrokerRecord(
        broker_id=broker.broker_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.broker_epoch,
        end_points=[
            records.BrokerEndpoint(name=name, host=host, port=port, security_protocol=protocol)
            for name, host, port, protocol in broker.endpoints
        ],
        features=[
            records.BrokerFeature(
                name=name, min_supported_version=lowest, max_supported_version=highest
            )
            for name, (lowest, highest) in _sorted_ranges(broker.features.items())
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown if version >= 1 else False,
        log_dirs=list(broker.directories) if version >= 3 else [],
        cordoned_log_dirs=None if cordoned is None else list(cordoned),
    )


def _controller(controller: Controller) -> records.RegisterControllerRecord:
    return records.RegisterControllerRecord(
        controller_id=controller.controller_id,
        incarnation_id=controller.incarnation_id,
        zk_migration_ready=controller.zk_migration_ready,
        end_points=[
            records.ControllerEndpoint(name=name, host=host, port=port, security_protocol=protocol)
            for name, host, port, protocol in controller.endpoints
        ],
        features=[
            records.ControllerFeature(
                name=name, min_supported_version=lowest, max_supported_version=highest
            )
            for name, (lowest, highest) in _sorted_ranges(controller.features.items())
        ],
    )


def _sorted_ranges(ranges: Iterable[tuple[str, LevelRange]]) -> list[tuple[str, LevelRange]]:
    return sorted(ranges, key=lambda pair: pair[0])


def _topics(image: Image) -> Iterator[Message]:
    with_directories = image.metadata_version >= 17
    for topic in image.topics.values():
        yield records.TopicRecord(name=topic.name, topic_id=topic.topic_id)
        for index, partition in topic.partitions.items():
            yield partition_record(
                topic.topic_id,
                index,
                partition,
                with_directories=with_directories,
                with_elr=image.has_elr,
            )


def partition_record(
    topic_id: bytes, index: int, partition: Partition, *, with_directories: bool, with_elr: bool
) -> records.PartitionRecord:
    """A partition as it stands, as one record."""
    return records.PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing_replicas),
        adding_replicas=list(partition.adding_replicas),
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories) if with_directories else [],
        eligible_leader_replicas=list(partition.elr) if with_elr and partition.elr else None,
        last_known_elr=list(partition.last_known_elr)
        if with_elr and partition.last_known_elr
        else None,
    )


def _quotas(image: Image) -> Iterator[Message]:
    for key, values in image.quotas.items():
        for name, value in values.items():
            yield records.ClientQuotaRecord(
                entity=[
                    records.EntityData(entity_type=kind, entity_name=entity) for kind, entity in key
                ],
                key=name,
                value=value,
                remove=False,
            )


def _access(image: Image) -> Iterator[Message]:
    for rule_id, rule in image.acls.items():
        yield records.AccessControlEntryRecord(id=rule_id, **rule._asdict())
    for key, credential in image.scram.items():
        yield records.UserScramCredentialRecord(
            name=key.name, mechanism=key.mechanism, **credential._asdict()
        )
    for token in image.tokens.values():
        yield records.DelegationTokenRecord(**{**token._asdict(), "renewers": list(token.renewers)})
