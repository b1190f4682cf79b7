"""The cluster itself: its nodes, features, quorum, producer ids, and what clients measure."""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case

from quire.protocol.messages import add_raft_voter as adding
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.messages import update_features as features
from quire.protocol.messages.describe_cluster import DescribeClusterRequest
from quire.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.push_telemetry import PushTelemetryRequest
from quire.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from quire.protocol.messages.unregister_broker import UnregisterBrokerRequest

SOME_ID = bytes(range(16))


def cluster(v: int, *, operations: bool = False, endpoints: int = 1, fenced: bool = False) -> Any:
    more: dict[str, Any] = {}
    if v >= 1:
        more["endpoint_type"] = endpoints
    if v >= 2:
        more["include_fenced_brokers"] = fenced
    return DescribeClusterRequest(include_cluster_authorized_operations=operations, **more)


NODES: list[Case] = [
    case("cluster", cluster),
    case("cluster: operations", lambda v: cluster(v, operations=True)),
    case("cluster: controllers", lambda v: cluster(v, endpoints=2), since=1),
    case("cluster: no such endpoints", lambda v: cluster(v, endpoints=3), since=1),
    case("cluster: endpoints 0", lambda v: cluster(v, endpoints=0), since=1),
    case("cluster: fenced too", lambda v: cluster(v, fenced=True), since=2),
    case("unregister: nobody", UnregisterBrokerRequest(broker_id=77)),
    case("unregister: negative", UnregisterBrokerRequest(broker_id=-1)),
]


def level(name: str, to: int, v: int, kind: int = 1, *, validate_only: bool = False) -> Any:
    return levels((name, to), v=v, kind=kind, validate_only=validate_only)


def levels(*wanted: tuple[str, int], v: int, kind: int = 1, validate_only: bool = False) -> Any:
    how: dict[str, Any] = {"upgrade_type": kind} if v >= 1 else {"allow_downgrade": kind > 1}
    more: dict[str, Any] = {"validate_only": validate_only} if v >= 1 else {}
    return features.UpdateFeaturesRequest(
        timeout_ms=1000,
        feature_updates=[
            features.FeatureUpdateKey(feature=name, max_version_level=to, **how)
            for name, to in wanted
        ],
        **more,
    )


FEATURES: list[Case] = [
    case("features: as it is", lambda v: level("group.version", 1, v)),
    case("features: unknown", lambda v: level("no.such", 1, v)),
    case("features: too high", lambda v: level("group.version", 9, v)),
    case("features: negative", lambda v: level("group.version", -1, v)),
    case("features: down without a word", lambda v: level("share.version", 0, v)),
    case("features: down, validate only", lambda v: level(
        "share.version", 0, v, 2, validate_only=True), since=1),
    case("features: unknown kind", lambda v: level("share.version", 0, v, 9), since=1),
    case("features: kind 0", lambda v: level("share.version", 1, v, 0), since=1),
    case("features: metadata version down", lambda v: level(
        "metadata.version", 29, v, 2, validate_only=True), since=1),
    case("features: metadata version too low", lambda v: level("metadata.version", 3, v, 3)),
    case("features: metadata version too high", lambda v: level("metadata.version", 99, v)),
    case("features: metadata version as it is", lambda v: level("metadata.version", 30, v)),
    case("features: quorum version as it is", lambda v: level("kraft.version", 1, v)),
    case("features: quorum version down", lambda v: level("kraft.version", 0, v, 2)),
    case("features: quorum version too high", lambda v: level("kraft.version", 5, v)),
    case("features: none", lambda v: levels(v=v)),
    case("features: twice", lambda v: levels(
        ("group.version", 1), ("group.version", 1), v=v)),
    case("features: good and bad", lambda v: levels(("group.version", 1), ("no.such", 1), v=v)),
    case("features: no name", lambda v: level("", 1, v)),
]  # fmt: skip


def quorum_of(*parts: tuple[str, list[int]]) -> Any:
    return quorum.DescribeQuorumRequest(
        topics=[
            quorum.DescribeQuorumRequestTopicData(
                topic_name=name,
                partitions=[
                    quorum.DescribeQuorumRequestPartitionData(partition_index=index)
                    for index in indexes
                ],
            )
            for name, indexes in parts
        ]
    )


QUORUM: list[Case] = [
    case("quorum", quorum_of(("__cluster_metadata", [0]))),
    case("quorum: another partition", quorum_of(("__cluster_metadata", [1]))),
    case("quorum: another topic", quorum_of(("plain-2", [0]))),
    case("quorum: nothing", quorum_of()),
    case("quorum: two", quorum_of(("__cluster_metadata", [0]), ("plain-2", [0]))),
    case("quorum: no partition", quorum_of(("__cluster_metadata", []))),
    case("voter: of another cluster", adding.AddRaftVoterRequest(
        cluster_id="AAAAAAAAAAAAAAAAAAAAAA", timeout_ms=1000, voter_id=9,
        voter_directory_id=SOME_ID, listeners=[])),
    case("voter: without listeners", adding.AddRaftVoterRequest(
        cluster_id=None, timeout_ms=1000, voter_id=9, voter_directory_id=SOME_ID, listeners=[])),
    case("voter: negative", adding.AddRaftVoterRequest(
        cluster_id=None, timeout_ms=1000, voter_id=-9, voter_directory_id=SOME_ID, listeners=[
            adding.Listener(name="CONTROLLER", host="127.0.0.1", port=1)])),
    case("voter: no directory", adding.AddRaftVoterRequest(
        cluster_id=None, timeout_ms=1000, voter_id=9, voter_directory_id=bytes(16), listeners=[
            adding.Listener(name="CONTROLLER", host="127.0.0.1", port=1)])),
    case("voter: unknown, removed", RemoveRaftVoterRequest(
        cluster_id=None, voter_id=9, voter_directory_id=SOME_ID)),
    case("voter: of another cluster, removed", RemoveRaftVoterRequest(
        cluster_id="AAAAAAAAAAAAAAAAAAAAAA", voter_id=9, voter_directory_id=SOME_ID)),
    case("voter: negative, removed", RemoveRaftVoterRequest(
        cluster_id=None, voter_id=-9, voter_directory_id=SOME_ID)),
]  # fmt: skip


def producer(v: int, name: str | None = None, producer_id: int = -1, epoch: int = -1) -> Any:
    more = {"producer_id": producer_id, "producer_epoch": epoch} if v >= 3 else {}
    return InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=2**31 - 1 if name is None else 60_000, **more
    )


PRODUCERS: list[Case] = [
    case("producer", producer, until=5),
    case("producer: again", lambda v: producer(v, None, 1, 3), 3, 5),
    case("producer: id without epoch", lambda v: producer(v, None, 1, -1), 3, 5),
    case("producer: epoch without id", lambda v: producer(v, None, -1, 1), 3, 5),
    case("producer: empty transactional id", lambda v: producer(v, ""), until=5),
    case("producer: negative timeout", InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=-1), until=5),
    case("producer: unstable version", InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=1), since=6),
]  # fmt: skip

TELEMETRY: list[Case] = [
    case("telemetry: who am I", GetTelemetrySubscriptionsRequest(client_instance_id=bytes(16))),
    case("telemetry: me", GetTelemetrySubscriptionsRequest(client_instance_id=SOME_ID)),
    case("telemetry: push", PushTelemetryRequest(
        client_instance_id=SOME_ID, subscription_id=1, terminating=False, compression_type=0,
        metrics=b"")),
    case("telemetry: push, not knowing me", PushTelemetryRequest(
        client_instance_id=bytes(16), subscription_id=1, terminating=False, compression_type=0,
        metrics=b"")),
]  # fmt: skip

CASES = [*NODES, *FEATURES, *QUORUM, *PRODUCERS, *TELEMETRY]
