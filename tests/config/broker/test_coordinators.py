from __future__ import annotations

import pytest

from quire.config.broker.coordinators import CoordinatorsSection
from quire.config.values import ConfigError


def test_three_protocols_are_spoken_by_default() -> None:
    coordinators = CoordinatorsSection.of({})
    spoken = coordinators.group_coordinator_rebalance_protocols
    assert spoken == ("classic", "consumer", "streams")
    with pytest.raises(ConfigError, match="a list of consumer, classic, share, streams"):
        CoordinatorsSection.of({"group.coordinator.rebalance.protocols": "classic,modern"})


def test_the_migration_policy_is_read_in_any_case() -> None:
    given = {"group.consumer.migration.policy": "UPgrade"}
    assert CoordinatorsSection.of(given).group_consumer_migration_policy == "UPgrade"
