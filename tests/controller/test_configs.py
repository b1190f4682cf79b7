from __future__ import annotations

import pytest
from tests.controller.world import World, kinds

from quire.errors import ErrorCode
from quire.protocol.messages import alter_configs as legacy
from quire.protocol.messages import incremental_alter_configs as incremental

SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture
def world():
    world = World().start(1)
    world.topic("t", [1])
    return world


def change(world, kind, name, *changes, validate_only=False, times=1):
    resource = incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=operation, value=value)
            for operation, key, value in changes
        ],
    )
    return world.do(
        incremental.IncrementalAlterConfigsRequest(
            resources=[resource] * times, validate_only=validate_only
        )
    )


def replace_all(world, kind, name, **settings):
    resource = legacy.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            legacy.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in settings.items()
        ],
    )
    return world.do(legacy.AlterConfigsRequest(resources=[resource], validate_only=False))


def code_of(decision):
    assert decision.records == () or decision.response.responses[0].error_code == 0
    return ErrorCode(decision.response.responses[0].error_code).name


def test_settings_are_set_changed_and_removed(world):
    assert kinds(change(world, 2, "t", (SET, "a", "1"), (SET, "b", "2"))) == ["Config", "Config"]
    assert kinds(change(world, 2, "t", (SET, "a", "1"), (SET, "b", "3"))) == ["Config"]
    assert world.image.config(2, "t") == {"a": "1", "b": "3"}
    change(world, 2, "t", (DELETE, "a", None), (DELETE, "never", None))
    assert world.image.config(2, "t") == {"b": "3"}


def test_lists_are_added_to_and_taken_from(world):
    change(world, 2, "t", (APPEND, "cleanup.policy", "compact"))
    assert world.image.config(2, "t")["cleanup.policy"] == "delete,compact"
    change(world, 2, "t", (APPEND, "cleanup.policy", "compact"))
    change(world, 2, "t", (SUBTRACT, "cleanup.policy", "delete"))
    assert world.image.config(2, "t")["cleanup.policy"] == "compact"
    assert code_of(change(world, 2, "t", (APPEND, "a", "1"))) == "INVALID_CONFIG"


def test_a_dry_run_writes_nothing(world):
    assert change(world, 2, "t", (SET, "a", "1"), validate_only=True).records == ()


@pytest.mark.parametrize(
    ("kind", "name", "operation", "code"),
    [
        (2, "x", (SET, "a", "1"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (2, "t", (SET, "bad.a", "1"), "INVALID_CONFIG"),
        (2, "t", (SET, "a", None), "INVALID_REQUEST"),
        (2, "t", (9, "a", "1"), "INVALID_REQUEST"),
        (4, "9", (SET, "a", "1"), "BROKER_ID_NOT_REGISTERED"),
        (4, "one", (SET, "a", "1"), "INVALID_REQUEST"),
        (8, "1", (SET, "a", "1"), "INVALID_REQUEST"),
        (16, "", (SET, "a", "1"), "INVALID_REQUEST"),
        (32, "", (SET, "a", "1"), "INVALID_REQUEST"),
        (3, "q", (SET, "a", "1"), "INVALID_REQUEST"),
    ],
)
def test_changes_that_cannot_be_are_refused(world, kind, name, operation, code):
    assert code_of(change(world, kind, name, operation)) == code


def test_what_is_named_twice_is_refused(world):
    assert code_of(change(world, 2, "t", (SET, "a", "1"), times=2)) == "INVALID_REQUEST"
    twice = change(world, 2, "t", (SET, "a", "1"), (DELETE, "a", None))
    assert code_of(twice) == "INVALID_REQUEST"


@pytest.mark.parametrize(("kind", "name"), [(4, ""), (4, "1"), (16, "metrics"), (32, "group")])
def test_brokers_groups_and_metrics_have_settings_too(world, kind, name):
    assert code_of(change(world, kind, name, (SET, "a", "1"))) == "NONE"
    assert world.image.config(kind, name)["a"] == "1"


def test_the_older_request_replaces_everything(world):
    change(world, 2, "t", (SET, "a", "1"), (SET, "b", "2"))
    replace_all(world, 2, "t", b="3", c="4")
    assert world.image.config(2, "t") == {"b": "3", "c": "4"}
    assert code_of(replace_all(world, 2, "t", c=None)) == "INVALID_REQUEST"
    assert code_of(replace_all(world, 2, "x", c="1")) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_clusters_min_isr_stays_and_no_broker_has_its_own(world):
    assert code_of(change(world, 4, "", (DELETE, "min.insync.replicas", None))) == "INVALID_CONFIG"
    own = change(world, 4, "1", (SET, "min.insync.replicas", "2"))
    assert code_of(own) == "INVALID_CONFIG"
    assert code_of(replace_all(world, 4, "", a="1")) == "INVALID_CONFIG"
    replace_all(world, 4, "", a="1", min_insync_replicas="1")
    assert world.image.config(4, "") == {"min.insync.replicas": "1", "a": "1"}


def test_another_min_isr_starts_elr_over(world):
    decision = change(world, 2, "t", (SET, "min.insync.replicas", "2"))
    assert kinds(decision) == ["Config", "ClearElr"]
    assert decision.records[-1].message.topic_name == "t"
    decision = change(world, 4, "", (SET, "min.insync.replicas", "2"))
    assert decision.records[-1].message.topic_name == ""
