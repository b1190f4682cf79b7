"""Who votes, as a node finds it at its start: in the log, by the settings, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from tests.node.scene import SETTINGS, make_directory, with_world

from quire.config.layers import BrokerLayers
from quire.config.values import ConfigError
from quire.node.listeners import Told
from quire.node.metadata_log import MetadataLog
from quire.node.voters import VotersError, find_voters
from quire.node.world import World
from quire.protocol.schema import ZERO_UUID
from quire.raft.snapshots import Controls
from quire.raft.voters import Voter, VoterEndpoint, VoterSet
from quire.storage.settings import LogSettings

DIRECTORY = b"d" * 16
HERE = VoterEndpoint("CONTROLLER", "b1", 9093)
ME = Voter(1, DIRECTORY, (HERE,))


def found(controls: Controls, *, told_in_log: Controls | None = None, **texts: str) -> Any:
    settings = BrokerLayers(
        {**SETTINGS, **{name.replace("_", "."): text for name, text in texts.items()}}
    ).settings

    async def main(world: World) -> Any:
        make_directory(world.disk, "/logs")
        log = MetadataLog.open(world, "/logs", LogSettings())
        log.controls_in_log = controls if told_in_log is None else told_in_log
        return find_voters(settings, controls, log, [Told("CONTROLLER", "b1", 9093, 0)], DIRECTORY)

    return with_world(main)


def test_a_quorum_that_keeps_its_voters_in_the_log_has_them_from_there() -> None:
    voters = found(Controls(1, VoterSet([ME])))
    assert (voters.me, voters.kraft_version, voters.listener) == (ME, 1, "CONTROLLER")
    assert voters.all == VoterSet([ME])
    assert not voters.are_news


def test_what_only_formatting_said_is_news_for_the_log() -> None:
    voters = found(Controls(1, VoterSet([ME])), told_in_log=Controls())
    assert voters.are_news


def test_a_node_that_listens_elsewhere_now_corrects_its_own_entry() -> None:
    old = Voter(1, DIRECTORY, (VoterEndpoint("CONTROLLER", "before", 1),))
    voters = found(Controls(1, VoterSet([old])))
    assert voters.are_news
    assert voters.all == VoterSet([ME])


def test_without_the_level_voters_are_those_of_the_settings_and_have_no_directories() -> None:
    voters = found(Controls(), controller_quorum_voters="1@b1:9093")
    assert (voters.kraft_version, voters.me.directory_id) == (0, ZERO_UUID)
    assert voters.all.ids == (1,)
    assert not voters.are_news


def test_without_voters_anywhere_the_setting_is_named() -> None:
    with pytest.raises(ConfigError, match=r"controller\.quorum\.voters") as refused:
        found(Controls())
    assert refused.value.setting == "controller.quorum.voters"


def test_a_directory_that_is_no_voters_is_refused() -> None:
    other = Voter(1, b"e" * 16, (HERE,))
    for voters in (VoterSet([other]), VoterSet([Voter(2, DIRECTORY, (HERE,))]), None):
        with pytest.raises(VotersError, match="not among the voters"):
            found(Controls(1, voters))


def test_a_quorum_of_several_is_refused_as_long_as_only_one_is_served() -> None:
    second = Voter(2, b"e" * 16, (HERE,))
    with pytest.raises(VotersError, match="several voters"):
        found(Controls(1, VoterSet([ME, second])))
