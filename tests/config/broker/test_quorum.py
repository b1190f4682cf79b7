from __future__ import annotations

import pytest

from quire.config.broker.quorum import QuorumSection
from quire.config.values import ConfigError


def test_voters_are_an_id_and_an_address() -> None:
    quorum = QuorumSection.of({"controller.quorum.voters": "1@a:9093,2@b:9093"})
    assert quorum.controller_quorum_voters == ("1@a:9093", "2@b:9093")
    with pytest.raises(ConfigError, match="a list of id@host:port"):
        QuorumSection.of({"controller.quorum.voters": "a:9093"})


def test_a_follower_waits_longer_for_its_leader_than_an_election_takes() -> None:
    quorum = QuorumSection.of({})
    assert quorum.controller_quorum_fetch_timeout_ms > quorum.controller_quorum_election_timeout_ms
