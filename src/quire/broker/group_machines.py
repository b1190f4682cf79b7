"""The machines of groups, and what they need of a broker's settings.

Loaded when the first partition of the offsets topic is led: a node that starts needs none.

Not here   what they decide (groups), who hosts them (groups_host).
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.assignors.table import ASSIGNORS
from quire.config.broker import BrokerSettings
from quire.groups.coordinator import GroupCoordinator
from quire.groups.step import ConsumerTiming, GroupsSettings, Migration
from quire.ports.entropy import Entropy

MINUTE_MS = 60_000
_MIGRATIONS = {
    "disabled": Migration(upgrades=False, downgrades=False),
    "upgrade": Migration(upgrades=True, downgrades=False),
    "downgrade": Migration(upgrades=False, downgrades=True),
    "bidirectional": Migration(),
}


def group_coordinator(
    partition: int, settings: BrokerSettings, entropy: Entropy
) -> GroupCoordinator:
    """A machine for one partition."""
    view = groups_settings(settings)
    return GroupCoordinator(partition, lambda: view, entropy.bytes)


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
