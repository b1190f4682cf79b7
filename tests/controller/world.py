"""A controller with its log: what it decides is appended and replayed at once, as a node would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quire.controller.decision import ConfigRules, Decision, Refusal, Settings
from quire.controller.machine import Controller
from quire.errors import ErrorCode
from quire.metadata.features import FEATURES
from quire.metadata.image import ConfigResource, Image, Partition
from quire.metadata.records import MetadataRecord, decode_value, encode_value
from quire.protocol.messages import alter_partition as alter
from quire.protocol.messages import broker_heartbeat as heartbeats
from quire.protocol.messages import broker_registration as registrations
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import incremental_alter_configs as incremental

CLUSTER_ID = "PzJIwIKORUm3lDcXOerb8A"
EPOCH = 1


class Draws:
    """Chance that counts: always the same sequence, never the same id twice."""

    def __init__(self) -> None:
        self.drawn = 0

    def below(self, limit: int) -> int:
        return 0 * limit

    def bytes(self, size: int) -> bytes:
        self.drawn += 1
        return b"\xaa" * (size - 2) + self.drawn.to_bytes(2)


class SomeRules:
    """A small world of settings."""

    def refusal(
        self, resource: ConfigResource, current: Mapping[str, str], wanted: Mapping[str, str]
    ) -> Refusal | None:
        bad = [key for key in wanted if key.startswith("bad.")]
        return Refusal(ErrorCode.INVALID_CONFIG, f"{bad[0]} is unknown") if bad else None

    def list_default(self, resource_type: int, key: str) -> Sequence[str] | None:
        return ["delete"] if key == "cleanup.policy" else None

    def describe_topic(self, settings: Mapping[str, str]) -> list[creating.CreatableTopicConfigs]:
        return [
            creating.CreatableTopicConfigs(
                name=name, value=value, read_only=False, config_source=1, is_sensitive=False
            )
            for name, value in settings.items()
        ]


def directory(broker_id: int) -> bytes:
    return b"d" * 14 + broker_id.to_bytes(2)


def incarnation(number: int) -> bytes:
    return b"i" * 14 + number.to_bytes(2)


class World:
    """One controller, its log, and the time."""

    def __init__(
        self, *, activate: bool = True, rules: ConfigRules | None = None, **settings: Any
    ) -> None:
        self.settings = Settings(cluster_id=CLUSTER_ID, **settings)
        self.entropy = Draws()
        self.rules = rules or SomeRules()
        self.controller = Controller(self.settings, self.rules, self.entropy)
        self.log: list[MetadataRecord] = []
        self.bounds: list[int] = []
        self.now_ms = 1_000_000
        self.incarnations = 0
        if activate:
            self.take(self.controller.activate(now_ms=self.now_ms, next_offset=0))

    @property
    def image(self) -> Image:
        return self.controller.image

    def take(self, decision: Decision) -> Decision:
        """Append, through the bytes, and replay."""
        before = self.image
        if decision.records:
            values = [encode_value(record) for record in decision.records]
            read = [decode_value(value) for value in values]
            assert read == list(decision.records)
            self.log.extend(read)
            self.bounds.append(len(self.log))
            self.controller.replay(
                [record.message for record in read],
                last_offset=len(self.log) - 1,
                quorum_epoch=EPOCH,
            )
            self.controller.check()
        else:
            assert self.image is before
        return decision

    def do(self, request: object) -> Decision:
        before = self.image
        decision = self.controller.command(request, now_ms=self.now_ms, next_offset=len(self.log))
        assert self.image is before, "a command changes nothing"
        return self.take(decision)

    def tick(self, key: str, *, later_ms: int = 0) -> Decision:
        self.now_ms += later_ms
        return self.take(
            self.controller.on_timer(key, now_ms=self.now_ms, next_offset=len(self.log))
        )

    def again(self) -> Controller:
        """A fresh machine that was fed the whole log."""
        fresh = Controller(self.settings, self.rules, Draws())
        start = 0
        for end in self.bounds:
            fresh.replay(
                [record.message for record in self.log[start:end]],
                last_offset=end - 1,
                quorum_epoch=EPOCH,
            )
            start = end
        return fresh

    # --- brokers ---

    def registration(
        self, broker_id: int, *, previous_epoch: int = -1, **more: Any
    ) -> registrations.BrokerRegistrationRequest:
        self.incarnations += 1
        values: dict[str, Any] = {
            "cluster_id": CLUSTER_ID,
            "incarnation_id": incarnation(self.incarnations),
            "listeners": [
                registrations.Listener(
                    name="PLAINTEXT", host="127.0.0.1", port=9092 + broker_id, security_protocol=0
                )
            ],
            "features": [
                registrations.Feature(
                    name=one.name,
                    min_supported_version=one.lowest,
                    max_supported_version=one.highest,
                )
                for one in FEATURES
            ],
            "rack": None,
            "log_dirs": [directory(broker_id)],
            "previous_broker_epoch": previous_epoch,
        }
        return registrations.BrokerRegistrationRequest(broker_id=broker_id, **(values | more))

    def register(self, broker_id: int, **more: Any) -> int:
        response = self.do(self.registration(broker_id, **more)).response
        assert response.error_code == 0, response
        epoch: int = response.broker_epoch
        return epoch

    def beat(self, broker_id: int, **more: Any) -> heartbeats.BrokerHeartbeatResponse:
        broker = self.image.brokers.get(broker_id)
        values: dict[str, Any] = {
            "broker_epoch": broker.broker_epoch if broker else -1,
            "current_metadata_offset": len(self.log) - 1,
            "want_fence": False,
            "want_shut_down": False,
        }
        request = heartbeats.BrokerHeartbeatRequest(broker_id=broker_id, **(values | more))
        response: heartbeats.BrokerHeartbeatResponse = self.do(request).response
        return response

    def start(self, *broker_ids: int, **more: Any) -> World:
        for broker_id in broker_ids:
            self.register(broker_id, **more)
            self.beat(broker_id)
        return self

    def lose(self, broker_id: int) -> None:
        """Let a broker's session end while the others go on."""
        self.now_ms += self.settings.broker_session_timeout_ms
        for other in self.image.brokers.values():
            if other.broker_id != broker_id and not other.fenced:
                self.beat(other.broker_id)
        self.tick("sessions")

    # --- topics ---

    def topic(self, name: str, *replicas: Sequence[int], **settings: str) -> bytes:
        """Make a topic with these replicas for each partition."""
        asked = creating.CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                creating.CreatableReplicaAssignment(partition_index=index, broker_ids=list(one))
                for index, one in enumerate(replicas)
            ],
            configs=[
                creating.CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in settings.items()
            ],
        )
        result = self.do(creating.CreateTopicsRequest(topics=[asked])).response.topics[0]
        assert result.error_code == 0, result
        topic_id: bytes = result.topic_id
        return topic_id

    def partition(self, name: str, index: int = 0) -> Partition:
        return self.image.topics[name].partitions[index]

    def set(self, kind: int, name: str, key: str, value: str | None) -> Decision:
        change = incremental.AlterableConfig(
            name=key, config_operation=0 if value is not None else 1, value=value
        )
        resource = incremental.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[change]
        )
        return self.do(
            incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        )

    def propose(self, name: str, isr: Sequence[int], **more: Any) -> alter.AlterPartitionResponse:
        """The leader of partition 0 proposes an in-sync set."""
        partition = self.partition(name)
        leader = self.image.brokers[more.pop("leader", partition.leader)]
        values: dict[str, Any] = {
            "partition_index": 0,
            "leader_epoch": partition.leader_epoch,
            "new_isr_with_epochs": [
                alter.BrokerState(
                    broker_id=one,
                    broker_epoch=self.image.brokers[one].broker_epoch
                    if one in self.image.brokers
                    else -1,
                )
                for one in isr
            ],
            "leader_recovery_state": 0,
            "partition_epoch": partition.partition_epoch,
        }
        topic = alter.AlterPartitionRequestTopicData(
            topic_id=more.pop("topic_id", self.image.topics[name].topic_id),
            partitions=[alter.AlterPartitionRequestPartitionData(**(values | more))],
        )
        request = alter.AlterPartitionRequest(
            broker_id=leader.broker_id, broker_epoch=leader.broker_epoch, topics=[topic]
        )
        response: alter.AlterPartitionResponse = self.do(request).response
        return response


def kinds(decision: Decision) -> list[str]:
    return [type(record.message).__name__.removesuffix("Record") for record in decision.records]
