"""The host of group coordinators, made for a broker: its topic, and how it is written to.

Not here   what hosts do (coordinators), the machines and their settings (group_machines).
"""

from __future__ import annotations

from typing import Any

from quire.broker.broker import Waiting
from quire.broker.coordinators import Coordinators, Kind
from quire.broker.internal_topics import OFFSETS
from quire.broker.journal import Journal
from quire.broker.replicas import Replicas
from quire.config.broker import BrokerSettings
from quire.coordination import Coordinator
from quire.ports.clock import Clock
from quire.ports.entropy import Entropy
from quire.records.compression import Compression

BASE_SEQUENCE = 0


def groups_host(
    settings: BrokerSettings,
    *,
    replicas: Replicas,
    waiting: Waiting,
    clock: Clock,
    entropy: Entropy,
    journal: Journal,
) -> Coordinators:
    """A host with no partition yet. The settings of groups cannot change while a broker runs."""

    def make(partition: int) -> Coordinator:
        from quire.broker.group_machines import group_coordinator  # noqa: PLC0415 -- a start needs none

        return group_coordinator(partition, settings, entropy)

    kind = Kind(OFFSETS, make, BASE_SEQUENCE, _no_effect)
    host = Coordinators(kind, replicas=replicas, waiting=waiting, clock=clock, journal=journal)
    host.timeout_ms = settings.offsets_commit_timeout_ms
    host.compression = Compression(settings.offsets_topic_compression_codec)
    return host


def _no_effect(_partition: int, effect: Any) -> None:
    """Groups ask for nothing but records, answers and timers."""
    raise AssertionError(effect)
