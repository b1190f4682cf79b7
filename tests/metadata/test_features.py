from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metadata.golden_log import GOLDEN, snapshot_messages

from quire.metadata.features import (
    ELR_VERSION,
    FEATURES,
    METADATA_VERSION,
    METADATA_VERSIONS,
    SUPPORTED,
    default_levels,
    is_lossy,
    metadata_version_of,
    refusal,
)
from quire.protocol.messages.metadata_records import FeatureLevelRecord


def test_a_new_cluster_gets_the_levels_and_the_order_of_kafkas_bootstrap_file():
    written = [
        record.message for record in snapshot_messages(GOLDEN / "data-clean/bootstrap.checkpoint")
    ]
    ours = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in default_levels().items()
    ]
    assert ours == written


def test_every_level_of_metadata_version_has_a_name():
    feature = SUPPORTED[METADATA_VERSION]
    assert list(METADATA_VERSIONS) == list(range(feature.lowest, feature.highest + 1))


def test_a_new_clusters_levels_need_nothing_they_do_not_have():
    levels = default_levels()
    assert [refusal(name, level, levels) for name, level in levels.items()] == [None] * 6


@pytest.mark.parametrize(
    ("name", "level", "levels", "reason"),
    [
        ("pigeons", 1, {}, "not supported"),
        (METADATA_VERSION, 31, {}, "levels 7 to 30"),
        (METADATA_VERSION, 6, {}, "levels 7 to 30"),
        (METADATA_VERSION, 0, {}, "cannot be switched off"),
        (ELR_VERSION, 1, {METADATA_VERSION: 22}, "needs metadata.version at level 23"),
        (METADATA_VERSION, 22, {ELR_VERSION: 1}, "needs metadata.version at level 23"),
    ],
)
def test_a_level_that_cannot_be_is_refused_with_its_reason(name, level, levels, reason):
    refused = refusal(name, level, levels)
    assert refused is not None
    assert reason in refused


@given(st.sampled_from(FEATURES), st.integers(-1, 40))
def test_an_accepted_level_lies_in_our_range(feature, level):
    levels = {METADATA_VERSION: 30}
    if refusal(feature.name, level, levels) is None:
        assert feature.lowest <= level <= feature.highest or level == 0


def test_going_back_is_lossy_only_over_levels_that_changed_records():
    assert not is_lossy(29, 24)
    assert is_lossy(30, 29)
    assert is_lossy(18, 10)
    assert not is_lossy(10, 9)


def test_an_older_release_begins_with_what_it_knew():
    assert default_levels(21) == {"metadata.version": 21}
    assert default_levels(25) == {
        "metadata.version": 25,
        "group.version": 1,
        "transaction.version": 2,
    }
    assert set(default_levels(26)) - set(default_levels(25)) == {"eligible.leader.replicas.version"}
    assert set(default_levels(29)) - set(default_levels(28)) == {"streams.version"}
    assert default_levels(29).keys() == default_levels().keys()


def test_a_release_is_its_last_level():
    assert metadata_version_of("4.0") == metadata_version_of("4.0-IV3") == 25
    assert metadata_version_of("4.0-IV0") == 22
    assert metadata_version_of("9.9") is None
