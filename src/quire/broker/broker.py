"""What a running broker consists of, as its handlers see it: a plain record, no behaviour.

The node fills it in and replaces `image` and `layers` whole when they change; a handler that goes on after an
`await` reads them anew, or keeps the one it began with, as it needs.

Invariants
  I1  `image`, `layers` and `state` are replaced, never written into; one step of a handler sees one image.
Not here   who replaces what, and in which order (node), what a handler does (handlers).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from quire.broker.connection_limits import ConnectionLimits
from quire.broker.journal import Journal, Silence
from quire.broker.peers import Nobody, Peers
from quire.broker.telemetry import Telemetry
from quire.metadata.image import EMPTY, Image

if TYPE_CHECKING:
    from quire.broker.controller_link import ControllerLink
    from quire.broker.coordinators import Coordinators
    from quire.broker.deadlines import Deadlines
    from quire.broker.fetch_sessions import FetchSessions
    from quire.broker.metrics import Metrics
    from quire.broker.producer_ids import ProducerIds
    from quire.broker.purgatory import Purgatory
    from quire.broker.quorum_view import QuorumView
    from quire.broker.quotas import Quotas
    from quire.broker.replicas import Replicas
    from quire.config.layers import BrokerLayers
    from quire.ports.background import Background
    from quire.ports.clock import Clock
    from quire.ports.entropy import Entropy
    from quire.storage.log_dirs import LogDirs

NO_EPOCH: Final = -1


class BrokerState(IntEnum):
    """Where a broker is in its life; the numbers are those of Kafka's BrokerState metric."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


@dataclass(slots=True)
class Waiting:
    """What waits, one purgatory for each kind: the keys and deadlines are their users'."""

    produce: Purgatory
    fetch: Purgatory
    delete_records: Purgatory
    elect_leaders: Purgatory
    deadlines: Deadlines | None = None
    """What expires them; set by the first who takes connections."""

    def all(self) -> tuple[tuple[str, Purgatory], ...]:
        """With the names that Kafka's purgatory metrics have."""
        return (
            ("Produce", self.produce),
            ("Fetch", self.fetch),
            ("DeleteRecords", self.delete_records),
            ("ElectLeader", self.elect_leaders),
        )


@dataclass(slots=True, kw_only=True)
class Broker:
    """See the module."""

    node_id: int
    cluster_id: str
    incarnation_id: bytes
    layers: BrokerLayers
    replicas: Replicas
    log_dirs: LogDirs
    fetch_sessions: FetchSessions
    waiting: Waiting
    controller: ControllerLink
    quorum: QuorumView
    quotas: Quotas
    producer_ids: ProducerIds
    groups: Coordinators
    metrics: Metrics
    clock: Clock
    entropy: Entropy
    background: Background
    journal: Journal = field(default_factory=Silence)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    """Those of all listeners together."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    hosts: dict[str, Coordinators] = field(default_factory=dict)
    """Of coordinators, by the internal topic that they keep."""
    peers: Peers = field(default_factory=Nobody)
    image: Image = field(default=EMPTY)
    broker_epoch: int = NO_EPOCH
    """Of the registration; set by the node."""
    state: BrokerState = BrokerState.NOT_RUNNING

    @property
    def is_ready(self) -> bool:
        """Whether clients are served."""
        return self.state in (BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN)

    @property
    def is_shutting_down(self) -> bool:
        return self.state >= BrokerState.PENDING_CONTROLLED_SHUTDOWN
