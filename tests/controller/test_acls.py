from __future__ import annotations

import pytest
from tests.controller.world import World, kinds

from quire.errors import ErrorCode
from quire.protocol.messages import create_acls as creating
from quire.protocol.messages import delete_acls as deleting


def rule(**more):
    values = {
        "resource_type": 2, "resource_name": "orders", "resource_pattern_type": 3,
        "principal": "User:a", "host": "*", "operation": 3, "permission_type": 3,
    }  # fmt: skip
    return creating.AclCreation(**(values | more))


def create(world, *rules):
    return world.do(creating.CreateAclsRequest(creations=list(rules)))


def delete(world, **more):
    values = {
        "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
        "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
    }  # fmt: skip
    one = deleting.DeleteAclsFilter(**(values | more))
    return world.do(deleting.DeleteAclsRequest(filters=[one]))


def test_a_rule_is_added_once():
    world = World()
    decision = create(world, rule(), rule(), rule(operation=4))
    assert kinds(decision) == ["AccessControlEntry"] * 2
    assert [one.error_code for one in decision.response.results] == [0, 0, 0]
    assert create(world, rule()).records == ()
    assert len(world.image.acls) == 2


@pytest.mark.parametrize(
    "more",
    [
        {"resource_type": 0}, {"resource_type": 1}, {"resource_type": 99},
        {"resource_pattern_type": 1}, {"resource_pattern_type": 2}, {"operation": 1},
        {"permission_type": 1}, {"permission_type": 0}, {"resource_name": ""}, {"principal": "a"},
    ],
    ids=str,
)  # fmt: skip
def test_rules_that_mean_nothing_are_refused(more):
    decision = create(World(), rule(**more))
    assert decision.records == ()
    assert decision.response.results[0].error_code == ErrorCode.INVALID_REQUEST


NAMES = {
    "literal": rule(),
    "prefixed": rule(resource_name="ord", resource_pattern_type=4),
    "all": rule(resource_name="*"),
    "other": rule(resource_name="stock"),
}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ["literal", "prefixed", "all", "other"]),
        ({"resource_name_filter": "orders"}, ["literal"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": 3}, ["literal"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": 4}, []),
        ({"resource_name_filter": "orders", "pattern_type_filter": 2}, ["literal", "prefixed", "all"]),
        ({"pattern_type_filter": 4}, ["prefixed"]),
        ({"resource_type_filter": 3}, []),
        ({"principal_filter": "User:b"}, []),
        ({"host_filter": "*", "operation": 3, "permission_type": 3}, ["literal", "prefixed", "all", "other"]),
        ({"operation": 4}, []),
        ({"permission_type": 2}, []),
    ],
    ids=str,
)  # fmt: skip
def test_a_filter_removes_the_rules_that_it_matches(more, expected):
    world = World()
    create(world, *NAMES.values())
    decision = delete(world, **more)
    found = decision.response.filter_results[0].matching_acls
    assert [one.resource_name for one in found] == [NAMES[name].resource_name for name in expected]
    assert len(decision.records) == len(expected)
    assert len(world.image.acls) == len(NAMES) - len(expected)


def test_a_rule_matched_by_two_filters_is_removed_once():
    world = World()
    create(world, rule())
    one = deleting.DeleteAclsFilter(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1,
        principal_filter=None, host_filter=None, operation=1, permission_type=1,
    )  # fmt: skip
    decision = world.do(deleting.DeleteAclsRequest(filters=[one, one]))
    assert kinds(decision) == ["RemoveAccessControlEntry"]
    assert [len(r.matching_acls) for r in decision.response.filter_results] == [1, 1]


@pytest.mark.parametrize(
    "more",
    [
        {"resource_type_filter": 0}, {"pattern_type_filter": 0}, {"operation": 0},
        {"permission_type": 0}, {"operation": 99},
    ],
    ids=str,
)  # fmt: skip
def test_a_filter_that_means_nothing_is_refused(more):
    world = World()
    create(world, rule())
    decision = delete(world, **more)
    assert decision.response.filter_results[0].error_code == ErrorCode.INVALID_REQUEST
    assert len(world.image.acls) == 1
