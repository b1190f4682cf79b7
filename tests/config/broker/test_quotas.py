from __future__ import annotations

import pytest

from quire.config.broker.quotas import DYNAMIC_ONLY, QuotasSection
from quire.config.setting import CLUSTER
from quire.config.values import ConfigError


def test_throttles_are_for_all_brokers_and_shown_only_where_set() -> None:
    for name in DYNAMIC_ONLY:
        throttle = QuotasSection.declared[name]
        assert (throttle.dynamic, throttle.internal) == (CLUSTER, True)


def test_a_throttle_is_not_negative() -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        QuotasSection.of({"leader.replication.throttled.rate": "-1"})
