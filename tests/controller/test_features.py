from __future__ import annotations

import pytest
from tests.controller.world import World, kinds

from quire.errors import ErrorCode
from quire.protocol.messages import broker_registration as registrations
from quire.protocol.messages import update_features as features
from quire.protocol.messages.metadata_records import FeatureLevelRecord

UPGRADE, SAFE, UNSAFE = 1, 2, 3
ELR = "eligible.leader.replicas.version"
MV = "metadata.version"


def update(world, *changes, validate_only=False):
    return world.do(
        features.UpdateFeaturesRequest(
            feature_updates=[
                features.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
                for name, level, kind in changes
            ],
            validate_only=validate_only,
        )
    )


def at_level(level, **more):
    world = World(activate=False, **more)
    bootstrap = [FeatureLevelRecord(name=MV, feature_level=level)]
    world.take(world.controller.activate(now_ms=0, next_offset=0, bootstrap=bootstrap))
    return world


def test_levels_are_raised_and_lowered():
    world = at_level(22).start(1)
    decision = update(world, (MV, 30, UPGRADE), ("group.version", 1, UPGRADE))
    assert kinds(decision) == ["FeatureLevel", "FeatureLevel"]
    assert decision.response.error_code == 0
    assert world.image.features == {MV: 30, "group.version": 1}
    update(world, ("group.version", 0, SAFE))
    assert world.image.features == {MV: 30}


def test_a_level_that_is_there_needs_no_record():
    world = at_level(30)
    assert update(world, (MV, 30, UPGRADE)).records == ()


def test_a_dry_run_writes_nothing():
    world = at_level(22)
    decision = update(world, (MV, 30, UPGRADE), validate_only=True)
    assert (decision.records, decision.response.error_code) == ((), 0)


@pytest.mark.parametrize(
    "change",
    [
        (MV, 31, UPGRADE), (MV, 6, SAFE), (MV, 29, UPGRADE), (MV, 22, SAFE), (MV, 22, UNSAFE),
        ("pigeons", 1, UPGRADE), ("kraft.version", 0, SAFE), ("group.version", 2, UPGRADE),
        ("group.version", 1, SAFE), ("group.version", 1, 9), (ELR, -1, SAFE),
    ],
    ids=str,
)  # fmt: skip
def test_levels_that_cannot_be_are_refused(change):
    world = at_level(30)
    decision = update(world, change)
    assert decision.records == ()
    assert decision.response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert decision.response.error_message


def test_all_of_a_request_or_none_of_it():
    world = at_level(22)
    decision = update(world, (MV, 30, UPGRADE), ("pigeons", 1, UPGRADE))
    assert decision.records == ()
    assert decision.response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert decision.response.results == [], "no word about single ones"


def test_of_a_feature_that_is_named_twice_the_last_wish_counts():
    world = at_level(22)
    decision = update(world, (MV, 30, UPGRADE), (MV, 29, UPGRADE))
    assert [one.feature for one in decision.response.results] == [MV, MV]
    assert world.image.features == {MV: 29}


def test_the_quorums_own_level_may_be_asked_for_as_it_is():
    assert update(at_level(30), ("kraft.version", 1, UPGRADE)).response.error_code == 0
    static = at_level(30, kraft_version=0)
    assert update(static, ("kraft.version", 0, UPGRADE)).response.error_code == 0
    assert update(static, ("kraft.version", 1, UPGRADE)).response.error_code


def test_what_one_broker_does_not_support_is_not_finalized():
    world = at_level(22)
    old = [
        registrations.Feature(name=MV, min_supported_version=7, max_supported_version=25),
    ]
    world.start(1, features=old)
    assert "Broker 1" in update(world, (MV, 30, UPGRADE)).response.error_message
    assert update(world, (MV, 25, UPGRADE)).response.error_code == 0
    assert update(world, ("group.version", 1, UPGRADE)).response.error_code


def test_elr_brings_the_clusters_min_isr_and_takes_those_of_brokers():
    world = at_level(30, min_insync_replicas=2).start(1)
    world.set(4, "1", "min.insync.replicas", "3")
    assert update(world, (ELR, 1, SAFE)).response.error_code
    update(world, (ELR, 1, UPGRADE))
    assert world.image.config(4, "1") == {}
    assert world.image.config(4, "") == {"min.insync.replicas": "2"}


def test_elr_needs_the_level_that_knows_it():
    world = at_level(22)
    assert update(world, (ELR, 1, UPGRADE)).response.error_code
    both = update(world, (ELR, 1, UPGRADE), (MV, 23, UPGRADE))
    assert both.response.error_code == 0


def test_without_elr_nobody_stays_eligible():
    world = World().start(1, 2)
    world.topic("t", [1, 2], min_insync_replicas="2")
    world.lose(2)
    assert world.partition("t").elr == (2,)
    assert kinds(update(world, (ELR, 0, SAFE))) == ["ClearElr", "FeatureLevel"]
    assert world.partition("t").elr == ()


def test_the_oldest_form_asks_for_a_downgrade_by_a_flag():
    world = World()
    one = features.FeatureUpdateKey(
        feature="group.version", max_version_level=0, allow_downgrade=True
    )
    assert world.do(features.UpdateFeaturesRequest(feature_updates=[one])).response.error_code == 0
    assert "group.version" not in world.image.features
