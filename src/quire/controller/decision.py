"""What goes into a command of the controller, and what comes out.

A command reads a `Turn` and gives a `Decision`. The caller appends its records as one batch, replays
them at once, and sends the answer when the last of them is committed.

Invariants
  I1  A turn's image is never written to; a decision's records are all there is of a change.
See        docs/decisions/0009-controller-is-a-replayed-machine.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from quire.controller.sessions import Sessions
from quire.errors import ErrorCode
from quire.metadata.image import UNASSIGNED_DIRECTORY, Broker, ConfigResource, Image
from quire.metadata.records import Message, MetadataRecord, versioned
from quire.ports.entropy import Entropy
from quire.protocol.messages.create_topics import CreatableTopicConfigs


@dataclass(frozen=True, slots=True)
class Timer:
    """Call `on_timer(key)` at this time; a later one with the same key replaces it."""

    key: str
    due_ms: int


@dataclass(frozen=True, slots=True)
class Decision:
    """The records to append (all or none), the answer to hold until they are committed, timers."""

    records: tuple[MetadataRecord, ...] = ()
    response: Any = None
    timers: tuple[Timer, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the controller reads of its node's configuration."""

    cluster_id: str
    num_partitions: int = 1
    default_replication_factor: int = 1
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False
    delete_topic_enable: bool = True
    broker_session_timeout_ms: int = 9000
    metadata_max_idle_interval_ms: int = 500
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    unclean_leader_election_interval_ms: int = 300_000
    records_per_operation_max: int = 10_000
    kraft_version: int = 1
    """The quorum's own level, which no record of ours changes."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request, or a part of it, is not done."""

    code: ErrorCode
    message: str | None = field(default=None)


class ConfigRules(Protocol):
    """What the controller must know about settings; the room `config` knows it."""

    def refusal(
        self, resource: ConfigResource, current: Mapping[str, str], wanted: Mapping[str, str]
    ) -> Refusal | None:
        """Why a resource that has `current` cannot have `wanted`; None when it can."""
        ...

    def list_default(self, resource_type: int, key: str) -> Sequence[str] | None:
        """What a list setting holds when nobody set it; None for a setting that is no list."""
        ...

    def describe_topic(self, settings: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """All the settings that a new topic has, as CreateTopics answers them."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that one command may look at."""

    image: Image
    sessions: Sessions
    settings: Settings
    rules: ConfigRules
    entropy: Entropy
    now_ms: int
    next_offset: int
    """The offset that the first record of this decision will get."""

    def record(self, message: Message) -> MetadataRecord:
        """A record at the version that the finalized levels call for."""
        return versioned(message, self.image.metadata_version, with_elr=self.image.has_elr)

    def records(self, messages: Sequence[Message]) -> tuple[MetadataRecord, ...]:
        return tuple(self.record(message) for message in messages)

    def is_active(self, broker_id: int) -> bool:
        """Whether a broker may lead and be in sync."""
        broker = self.image.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def broker_at(self, broker_id: int, broker_epoch: int) -> Broker | None:
        """The broker, when this is the epoch of its registration."""
        broker = self.image.brokers.get(broker_id)
        return broker if broker is not None and broker.broker_epoch == broker_epoch else None

    def default_directory(self, broker_id: int) -> bytes:
        """Where a new replica goes: the broker's only directory, else the broker shall say."""
        broker = self.image.brokers.get(broker_id)
        if broker is not None and len(broker.directories) == 1:
            return broker.directories[0]
        return UNASSIGNED_DIRECTORY

    def topic_setting(self, topic: str, name: str, default: str) -> str:
        """A setting of a topic: its own, else the cluster's dynamic one, else the node's."""
        own = self.image.config(2, topic).get(name)
        return own or self.image.config(4, "").get(name) or default

    def min_insync_replicas(self, topic: str) -> int:
        default = str(self.settings.min_insync_replicas)
        return int(self.topic_setting(topic, "min.insync.replicas", default))

    def allows_unclean(self, topic: str) -> bool:
        default = str(self.settings.unclean_leader_election_enable)
        found = self.topic_setting(topic, "unclean.leader.election.enable", default)
        return found.strip().lower() == "true"
