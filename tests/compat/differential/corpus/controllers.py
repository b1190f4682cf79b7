"""What brokers and controllers ask of a controller, asked by somebody who is neither."""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case, id_of

from quire.protocol.messages import alter_partition as isr
from quire.protocol.messages import assign_replicas_to_dirs as places
from quire.protocol.messages import broker_registration as registering
from quire.protocol.messages import controller_registration as controllers
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from quire.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest

SOME_ID = bytes(range(1, 17))
CLUSTER_ID = "Vy4f3xGkQ8CmJwAOnQXcYg"
FEATURES = {"metadata.version": (7, 30), "group.version": (0, 1), "kraft.version": (0, 1)}


def register(v: int, node: int = 77, **more: Any) -> Any:
    said: dict[str, Any] = {
        "cluster_id": CLUSTER_ID,
        "listeners": [
            registering.Listener(name="PLAINTEXT", host="h", port=9092, security_protocol=0)
        ],
        "features": [
            registering.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in FEATURES.items()
        ],
        "rack": None,
        **({"log_dirs": [SOME_ID]} if v >= 2 else {}),
        **more,
    }
    return registering.BrokerRegistrationRequest(broker_id=node, incarnation_id=SOME_ID, **said)


def beat(node: int, epoch: int) -> Any:
    return BrokerHeartbeatRequest(
        broker_id=node, broker_epoch=epoch, current_metadata_offset=0, want_fence=False,
        want_shut_down=False,
    )  # fmt: skip


def shrink(v: int, node: int, epoch: int, topic_id: bytes, leader_epoch: int = 0) -> Any:
    said: dict[str, Any] = (
        {"new_isr": [1]} if v < 3 else {"new_isr_with_epochs": [isr.BrokerState(broker_id=1)]}
    )
    part = isr.AlterPartitionRequestPartitionData(
        partition_index=0, leader_epoch=leader_epoch, partition_epoch=0, **said
    )
    return isr.AlterPartitionRequest(
        broker_id=node, broker_epoch=epoch,
        topics=[isr.AlterPartitionRequestTopicData(topic_id=topic_id, partitions=[part])],
    )  # fmt: skip


def assign(node: int, epoch: int, topic_id: bytes) -> Any:
    part = places.AssignReplicasToDirsRequestPartitionData(partition_index=0)
    return places.AssignReplicasToDirsRequest(
        broker_id=node, broker_epoch=epoch,
        directories=[
            places.AssignReplicasToDirsRequestDirectoryData(
                id=SOME_ID,
                topics=[
                    places.AssignReplicasToDirsRequestTopicData(
                        topic_id=topic_id, partitions=[part]
                    )
                ],
            )
        ],
    )  # fmt: skip


def controller(node: int) -> Any:
    return controllers.ControllerRegistrationRequest(
        controller_id=node, incarnation_id=SOME_ID, zk_migration_ready=False,
        listeners=[
            controllers.Listener(name="CONTROLLER", host="h", port=9093, security_protocol=0)
        ],
        features=[
            controllers.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in FEATURES.items()
        ],
    )  # fmt: skip


CASES: list[Case] = [
    case("register: of another cluster", lambda v: register(v, cluster_id="other")),
    case("register: no features", lambda v: register(v, features=[])),
    case("register: features of the future", lambda v: register(v, features=[
        registering.Feature(name="metadata.version", min_supported_version=99,
                            max_supported_version=99)])),
    case("register: no directories", lambda v: register(v, log_dirs=[]), since=2),
    case("register: a reserved directory", lambda v: register(v, log_dirs=[bytes(16)]), since=2),
    case("register: a directory twice", lambda v: register(
        v, log_dirs=[SOME_ID, SOME_ID]), since=2),
    case("register: in the place of another", lambda v: register(v, 1)),
    case("register: no listeners", lambda v: register(v, listeners=[])),
    case("register: from another world", lambda v: register(
        v, is_migrating_zk_broker=True), since=1),
    case("register: negative", lambda v: register(v, -7)),
    case("heartbeat: unknown", beat(78, 5)),
    case("heartbeat: wrong epoch", beat(1, 99_999)),
    case("heartbeat: epoch -1", beat(1, -1)),
    case("shrink: unknown broker", lambda v: shrink(v, 78, 5, id_of("d-data"))),
    case("shrink: wrong epoch", lambda v: shrink(v, 1, 99_999, id_of("d-data"))),
    case("ids: unknown broker", AllocateProducerIdsRequest(broker_id=78, broker_epoch=5)),
    case("ids: wrong epoch", AllocateProducerIdsRequest(broker_id=1, broker_epoch=99_999)),
    case("assign: unknown broker", assign(78, 5, id_of("d-data"))),
    case("assign: wrong epoch", assign(1, 99_999, id_of("d-data"))),
    case("controller: unknown", controller(78)),
]  # fmt: skip
