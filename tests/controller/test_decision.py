from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from tests.controller.world import Draws, SomeRules, World, directory

from quire.controller.decision import Decision, Turn
from quire.metadata.image import UNASSIGNED_DIRECTORY


def turn_of(world: World) -> Turn:
    return Turn(
        image=world.image, sessions=world.controller.sessions, settings=world.settings,
        rules=SomeRules(), entropy=Draws(), now_ms=world.now_ms, next_offset=len(world.log),
    )  # fmt: skip


def test_a_topics_setting_is_its_own_else_the_clusters_else_the_nodes():
    world = World(min_insync_replicas=3).start(1)
    world.topic("t", [1])
    assert turn_of(world).min_insync_replicas("t") == 3
    world.set(4, "", "min.insync.replicas", "2")
    assert turn_of(world).min_insync_replicas("t") == 2
    world.set(2, "t", "min.insync.replicas", "1")
    assert turn_of(world).min_insync_replicas("t") == 1
    assert not turn_of(world).allows_unclean("t")
    world.set(2, "t", "unclean.leader.election.enable", "TRUE")
    assert turn_of(world).allows_unclean("t")


def test_a_replica_goes_to_the_only_directory_or_is_left_to_the_broker():
    world = World().start(1)
    world.start(2, log_dirs=[directory(2), directory(22)])
    turn = turn_of(world)
    assert turn.default_directory(1) == directory(1)
    assert turn.default_directory(2) == UNASSIGNED_DIRECTORY
    assert turn.default_directory(9) == UNASSIGNED_DIRECTORY


def test_a_broker_is_found_only_at_its_epoch():
    world = World().start(1)
    epoch = world.image.brokers[1].broker_epoch
    turn = turn_of(world)
    assert turn.broker_at(1, epoch) is world.image.brokers[1]
    assert turn.broker_at(1, epoch - 1) is None
    assert turn.broker_at(2, epoch) is None
    assert turn.is_active(1)
    assert not turn.is_active(2)


def test_a_decision_is_a_value():
    decision = Decision(response=1)
    with pytest.raises(FrozenInstanceError):
        decision.response = 2  # type: ignore[misc]
