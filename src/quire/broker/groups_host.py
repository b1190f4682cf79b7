"""The host of group coordinators, made for a broker: its topic, its machines, what they need of the settings.

Not here   what hosts do (coordinators), what machines decide (groups).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.assignors.table import ASSIGNORS
from quire.broker.broker import Waiting
from quire.broker.coordinators import Coordinators, Kind
from quire.broker.internal_topics import OFFSETS
from quire.broker.journal import Journal
from quire.broker.replicas import Replicas
from quire.config.broker import BrokerSettings
from quire.groups.coordinator import GroupCoordinator
from quire.groups.step import ConsumerTiming, GroupsSettings, Migration
from quire.ports.clock import Clock
from quire.ports.entropy import Entropy
from quire.records.compression import Compression

MINUTE_MS = 60_000
BASE_SEQUENCE = 0
_MIGRATIONS = {
    "disabled": Migration(upgrades=False, downgrades=False),
    "upgrade": Migration(upgrades=True, downgrades=False),
    "downgrade": Migration(upgrades=False, downgrades=True),
    "bidirectional": Migration(),
}


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
    view = groups_settings(settings)

    def make(partition: int) -> GroupCoordinator:
        return GroupCoordinator(partition, lambda: view, entropy.bytes)

    kind = Kind(OFFSETS, make, BASE_SEQUENCE, _no_effect)
    host = Coordinators(kind, replicas=replicas, waiting=waiting, clock=clock, journal=journal)
    host.timeout_ms = settings.offsets_commit_timeout_ms
    host.compression = Compression(settings.offsets_topic_compression_codec)
    return host


def groups_settings(settings: BrokerSettings) -> GroupsSettings:
    """What groups need of them."""
    return GroupsSettings(
        initial_rebalance_delay_ms=settings.group_initial_rebalance_delay_ms,
        session_timeout_ms_min=settings.group_min_session_timeout_ms,
        session_timeout_ms_max=settings.group_max_session_timeout_ms,
        group_size_max=settings.group_max_size,
        metadata_bytes_max=settings.offset_metadata_max_bytes,
        offsets_retention_ms=settings.offsets_retention_minutes * MINUTE_MS,
        offsets_check_interval_ms=settings.offsets_retention_check_interval_ms,
        consumer_timing=ConsumerTiming(
            settings.group_consumer_session_timeout_ms,
            settings.group_consumer_heartbeat_interval_ms,
            settings.group_consumer_assignment_interval_ms,
        ),
        consumer_group_size_max=settings.group_consumer_max_size,
        consumer_assignors=_assignors(settings.group_consumer_assignors),
        migration=_MIGRATIONS[settings.group_consumer_migration_policy.lower()],
    )


def _assignors(names: Sequence[str]) -> tuple[str, ...]:
    """Those that there are; somebody else's, by the name of a class, are left out."""
    return tuple(name for name in names if name in ASSIGNORS) or tuple(ASSIGNORS)


def _no_effect(_partition: int, effect: Any) -> None:
    """Groups ask for nothing but records, answers and timers."""
    raise AssertionError(effect)
