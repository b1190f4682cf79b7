from __future__ import annotations

import pytest
from tests.broker.storehouse import STATIC

from quire.broker.group_machines import groups_settings
from quire.config.layers import BrokerLayers
from quire.groups.step import ConsumerTiming, GroupsSettings, Migration


def test_the_defaults_of_groups_are_those_of_a_broker() -> None:
    assert groups_settings(BrokerLayers(STATIC).settings) == GroupsSettings()


def test_every_setting_of_groups_reaches_them() -> None:
    texts = {
        "group.initial.rebalance.delay.ms": "1",
        "group.min.session.timeout.ms": "2",
        "group.max.session.timeout.ms": "3",
        "group.max.size": "4",
        "offset.metadata.max.bytes": "5",
        "offsets.retention.minutes": "6",
        "offsets.retention.check.interval.ms": "7",
        "group.consumer.session.timeout.ms": "50000",
        "group.consumer.heartbeat.interval.ms": "6000",
        "group.consumer.assignment.interval.ms": "11",
        "group.consumer.max.size": "12",
        "group.consumer.assignors": "range",
        "group.consumer.migration.policy": "UPGRADE",
    }
    view = groups_settings(BrokerLayers({**STATIC, **texts}).settings)
    assert view == GroupsSettings(
        initial_rebalance_delay_ms=1,
        session_timeout_ms_min=2,
        session_timeout_ms_max=3,
        group_size_max=4,
        metadata_bytes_max=5,
        offsets_retention_ms=360_000,
        offsets_check_interval_ms=7,
        consumer_timing=ConsumerTiming(50_000, 6_000, 11),
        consumer_group_size_max=12,
        consumer_assignors=("range",),
        migration=Migration(upgrades=True, downgrades=False),
    )


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("disabled", (False, False)),
        ("Downgrade", (False, True)),
        ("UPGRADE", (True, False)),
        ("bidirectional", (True, True)),
    ],
)
def test_each_policy_says_which_way_groups_may_change(
    policy: str, expected: tuple[bool, bool]
) -> None:
    texts = {"group.consumer.migration.policy": policy}
    assert groups_settings(BrokerLayers({**STATIC, **texts}).settings).migration == expected


def test_assignors_that_there_are_not_are_left_out() -> None:
    for text, expected in (
        ("org.example.Own,range", ("range",)),
        ("org.example.Own", ("uniform", "range")),
    ):
        texts = {"group.consumer.assignors": text}
        view = groups_settings(BrokerLayers({**STATIC, **texts}).settings)
        assert view.consumer_assignors == expected
