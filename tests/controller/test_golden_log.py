"""The requests behind the logs that Apache Kafka wrote, asked of our controller: the same records.

What legitimately differs: the order in which the partitions of one broker are changed (Apache Kafka
follows its hash tables), and NoOp records, which follow the clock.
"""

from __future__ import annotations

import pytest
from tests.controller.world import CLUSTER_ID, Draws, SomeRules, World
from tests.metadata.golden_log import GOLDEN, LOG, ONE_NODE, THREE_NODES, batches, snapshot_messages

from quire.controller.machine import Controller
from quire.metadata.records import MetadataRecord
from quire.protocol.messages import alter_client_quotas as quotas
from quire.protocol.messages import controller_registration as controllers
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from quire.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from quire.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)

NODES = {"one node": ONE_NODE, "three nodes": THREE_NODES}


class GivenIds(Draws):
    """Draws the topic ids that Apache Kafka drew."""

    def __init__(self, ids=()):
        super().__init__()
        self.ids = list(ids)

    def bytes(self, size):
        return self.ids.pop(0) if self.ids else super().bytes(size)


class Player:
    """Asks for each batch of the log what must have been asked, and compares."""

    def __init__(self, folder):
        self.folder = folder
        self.world = World(activate=False)
        self.entropy = GivenIds()
        self.controller = Controller(self.world.settings, SomeRules(), self.entropy)
        self.beaten: set[str] = set()

    def play(self):
        for batch in batches(self.folder / LOG):
            said = [r for r in batch.records if not isinstance(r.message, records.NoOpRecord)]
            offset = batch.base_offset
            for record in batch.records:  # NoOps before what was said take their offsets
                if not isinstance(record.message, records.NoOpRecord):
                    break
                offset += 1
            for part in self.operations(said):
                decision = self.ask(part, offset)
                assert self.in_order(decision.records) == self.in_order(part)
                offset += len(part)
            self.controller.replay(
                [record.message for record in batch.records if record not in said],
                last_offset=batch.last_offset,
                quorum_epoch=batch.quorum_epoch,
            )
            self.controller.check()

    def operations(self, said: list[MetadataRecord]):
        """A batch may hold several operations that met within the linger; replay each at its end."""
        kinds = {type(record.message) for record in said}
        alone = {records.RegisterControllerRecord, records.RegisterBrokerRecord}
        mixed = kinds & alone and len(said) > 1
        parts = [[record] for record in said] if mixed else [said] if said else []
        for part in parts:
            yield part
            self.controller.replay(
                [record.message for record in part], last_offset=0, quorum_epoch=1
            )

    @staticmethod
    def in_order(listed):
        """As written, but for the changes of a broker's partitions."""
        changes = sorted(
            repr(one) for one in listed if isinstance(one.message, records.PartitionChangeRecord)
        )
        return [
            one for one in listed if not isinstance(one.message, records.PartitionChangeRecord)
        ], changes

    def ask(self, part, offset):
        first = part[0].message
        if isinstance(first, records.BeginTransactionRecord):
            bootstrap = snapshot_messages(GOLDEN / "data-clean" / "bootstrap.checkpoint")
            messages = [record.message for record in bootstrap]
            return self.controller.activate(now_ms=0, next_offset=offset, bootstrap=messages)
        if isinstance(first, records.TopicRecord):
            self.entropy.ids = [first.topic_id]
        request = REQUESTS[type(first)](part, self.controller.image)
        self.beaten.add(type(request).__name__)
        return self.controller.command(request, now_ms=0, next_offset=offset)


def register_broker(part, _image):
    record = part[0].message
    return BrokerRegistrationRequest(
        broker_id=record.broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=record.incarnation_id,
        listeners=[
            Listener(name=e.name, host=e.host, port=e.port, security_protocol=0)
            for e in record.end_points
        ],
        features=[
            Feature(
                name=f.name,
                min_supported_version=f.min_supported_version,
                max_supported_version=f.max_supported_version,
            )
            for f in record.features
        ],
        rack=record.rack,
        log_dirs=record.log_dirs,
    )


def register_controller(part, _image):
    record = part[0].message
    return controllers.ControllerRegistrationRequest(
        controller_id=record.controller_id,
        incarnation_id=record.incarnation_id,
        zk_migration_ready=False,
        listeners=[
            controllers.Listener(name=e.name, host=e.host, port=e.port, security_protocol=0)
            for e in record.end_points
        ],
        features=[
            controllers.Feature(
                name=f.name,
                min_supported_version=f.min_supported_version,
                max_supported_version=f.max_supported_version,
            )
            for f in record.features
        ],
    )


def heartbeat(part, image):
    """Cordoned directories while it still wants to be fenced, then in, then out."""
    record = part[0].message
    leaving = record.in_controlled_shutdown == 1 or record.fenced == 1
    stops = leaving and not (
        record.fenced == 1 and not image.brokers[record.broker_id].in_controlled_shutdown
    )
    return BrokerHeartbeatRequest(
        broker_id=record.broker_id,
        broker_epoch=record.broker_epoch,
        current_metadata_offset=10**9,
        want_fence=record.fenced != -1 and not stops,
        want_shut_down=stops,
        cordoned_log_dirs=record.cordoned_log_dirs,
    )


def create_topic(part, _image):
    topic = creating.CreatableTopic(
        name=part[0].message.name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[],
        configs=[],
    )
    for record in (one.message for one in part[1:]):
        if isinstance(record, records.ConfigRecord):
            topic.configs.append(
                creating.CreatableTopicConfig(name=record.name, value=record.value)
            )
        if isinstance(record, records.PartitionRecord):
            topic.assignments.append(
                creating.CreatableReplicaAssignment(
                    partition_index=record.partition_id, broker_ids=record.replicas
                )
            )
    return creating.CreateTopicsRequest(topics=[topic])


def change_config(part, _image):
    from quire.protocol.messages import incremental_alter_configs as incremental

    record = part[0].message
    change = incremental.AlterableConfig(name=record.name, config_operation=0, value=record.value)
    resource = incremental.AlterConfigsResource(
        resource_type=record.resource_type, resource_name=record.resource_name, configs=[change]
    )
    return incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)


def quota(part, _image):
    record = part[0].message
    entry = quotas.AlterClientQuotasRequestEntryData(
        entity=[
            quotas.AlterClientQuotasRequestEntityData(
                entity_type=e.entity_type, entity_name=e.entity_name
            )
            for e in record.entity
        ],
        ops=[quotas.OpData(key=record.key, value=record.value, remove=record.remove)],
    )
    return quotas.AlterClientQuotasRequest(entries=[entry], validate_only=False)


REQUESTS = {
    records.RegisterBrokerRecord: register_broker,
    records.RegisterControllerRecord: register_controller,
    records.BrokerRegistrationChangeRecord: heartbeat,
    records.TopicRecord: create_topic,
    records.ConfigRecord: change_config,
    records.ClientQuotaRecord: quota,
    records.ProducerIdsRecord: lambda part, _: AllocateProducerIdsRequest(
        broker_id=part[0].message.broker_id, broker_epoch=part[0].message.broker_epoch
    ),
    records.RemoveTopicRecord: lambda part, _: deleting.DeleteTopicsRequest(
        topics=[deleting.DeleteTopicState(topic_id=part[0].message.topic_id)], timeout_ms=1
    ),
}


class OneNodePlayer(Player):
    """The password behind a SCRAM credential cannot be had from it: taken as written (test_scram)."""

    def ask(self, part, offset):
        if isinstance(part[0].message, records.UserScramCredentialRecord):
            from quire.controller.decision import Decision

            return Decision(tuple(part))
        return super().ask(part, offset)


@pytest.mark.parametrize("folder", NODES.values(), ids=NODES)
def test_the_same_requests_give_the_records_that_kafka_wrote(folder):
    player = OneNodePlayer(folder)
    player.play()
    expected = {
        "BrokerRegistrationRequest",
        "ControllerRegistrationRequest",
        "BrokerHeartbeatRequest",
        "CreateTopicsRequest",
        "AllocateProducerIdsRequest",
    }
    if folder is ONE_NODE:
        expected |= {
            "IncrementalAlterConfigsRequest",
            "DeleteTopicsRequest",
            "AlterClientQuotasRequest",
        }
    assert player.beaten == expected
