from __future__ import annotations

import pytest
from tests.controller.world import Draws, SomeRules, World, kinds
from tests.metadata.golden_log import GOLDEN, LOG, ONE_NODE, batches, snapshot_messages

from quire.controller.activation import ActivationError, bootstrap_messages
from quire.controller.machine import Controller
from quire.protocol.messages import metadata_records as records


def activate(world, bootstrap=None):
    return world.take(
        world.controller.activate(
            now_ms=world.now_ms, next_offset=len(world.log), bootstrap=bootstrap
        )
    )


def test_an_empty_log_begins_as_kafkas_does():
    bootstrap = snapshot_messages(GOLDEN / "data-clean" / "bootstrap.checkpoint")
    decision = activate(World(activate=False), [record.message for record in bootstrap])
    assert list(decision.records) == batches(ONE_NODE / LOG)[0].records


def test_without_a_bootstrap_file_the_levels_are_the_newest():
    assert bootstrap_messages() == [
        record.message for record in snapshot_messages(GOLDEN / "data-clean/bootstrap.checkpoint")
    ]
    world = World(activate=False, min_insync_replicas=2)
    activate(world)
    assert world.image.config(4, "") == {"min.insync.replicas": "2"}


def test_levels_without_transactions_begin_without_one():
    bootstrap = [records.FeatureLevelRecord(name="metadata.version", feature_level=12)]
    assert kinds(activate(World(activate=False), bootstrap)) == ["FeatureLevel"]


def test_a_log_that_has_begun_is_taken_over_as_it_is():
    world = World()
    assert kinds(activate(world)) == []


def test_what_a_predecessor_left_open_is_aborted():
    world = World()
    open_ = [records.BeginTransactionRecord(name="x"), records.NoOpRecord()]
    world.log.extend(batches(ONE_NODE / LOG)[0].records[:2])
    world.controller.replay(open_, last_offset=len(world.log) - 1, quorum_epoch=1)
    assert kinds(activate(world)) == ["AbortTransaction"]
    assert kinds(activate(world)) == []


def test_a_bootstrap_left_open_is_aborted_and_begun_anew():
    world = World(activate=False)
    world.controller.replay(
        [records.BeginTransactionRecord(name="Bootstrap records")], last_offset=0, quorum_epoch=1
    )
    found = kinds(activate(world))
    assert found[:3] == ["AbortTransaction", "BeginTransaction", "FeatureLevel"]
    assert world.image.metadata_version == 30


def test_a_machine_that_is_told_of_an_open_transaction_aborts_it():
    world = World()
    activate(world)
    image = world.controller.image
    world.controller = Controller(world.settings, SomeRules(), Draws(), image, in_transaction=True)
    assert kinds(activate(world)) == ["AbortTransaction"]
    assert world.controller.image.topics == image.topics


def test_a_bootstrap_without_a_level_is_refused():
    with pytest.raises(ActivationError, match=r"no metadata\.version"):
        activate(World(activate=False), [])


def test_a_log_with_records_and_no_level_is_refused():
    world = World(activate=False)
    world.controller.replay(
        [records.TopicRecord(name="t", topic_id=b"t" * 16)], last_offset=0, quorum_epoch=1
    )
    with pytest.raises(ActivationError, match=r"no metadata\.version"):
        activate(world)
