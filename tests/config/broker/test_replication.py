from __future__ import annotations

import pytest

from quire.config.broker.replication import ReplicationSection
from quire.config.values import ConfigError


def test_a_follower_waits_for_less_than_it_may_lag() -> None:
    replication = ReplicationSection.of({})
    assert replication.replica_fetch_wait_max_ms < replication.replica_lag_time_max_ms
    assert not replication.unclean_leader_election_enable


def test_at_least_one_replica_is_in_sync() -> None:
    with pytest.raises(ConfigError, match=r"min.insync.replicas is '0'"):
        ReplicationSection.of({"min.insync.replicas": "0"})
