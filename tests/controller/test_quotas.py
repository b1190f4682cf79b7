from __future__ import annotations

import pytest
from tests.controller.world import World, kinds

from quire.errors import ErrorCode
from quire.metadata.delta import quota_key
from quire.protocol.messages import alter_client_quotas as quotas


def entry(entity, *ops):
    return quotas.AlterClientQuotasRequestEntryData(
        entity=[
            quotas.AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name)
            for kind, name in entity
        ],
        ops=[quotas.OpData(key=key, value=value, remove=remove) for key, value, remove in ops],
    )


def alter(world, *entries, validate_only=False):
    return world.do(
        quotas.AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    )


def code_of(decision):
    return ErrorCode(decision.response.entries[0].error_code).name


def test_quotas_are_set_and_removed_and_only_differences_written():
    world = World()
    both = [("user", "u"), ("client-id", None)]
    set_ = ("producer_byte_rate", 1024.0, False)
    assert kinds(alter(world, entry(both, set_))) == ["ClientQuota"]
    assert world.image.quotas == {quota_key(both): {"producer_byte_rate": 1024.0}}
    assert kinds(alter(world, entry(both, set_))) == []
    assert kinds(alter(world, entry(both, ("request_percentage", 0.0, True)))) == []
    assert kinds(alter(world, entry(both, ("producer_byte_rate", 0.0, True)))) == ["ClientQuota"]
    assert world.image.quotas == {}
    assert alter(world, entry(both, set_), validate_only=True).records == ()


@pytest.mark.parametrize(
    ("entity", "op"),
    [
        ([], ("producer_byte_rate", 1.0, False)),
        ([("user", "a")], ("producer_byte_rate", 1e300, False)),
        ([("user", "a")], ("producer_byte_rate", float("inf"), False)),
        ([("user", "a")], ("no_such", 1.0, False)),
        ([("ip", "no host/1")], ("connection_creation_rate", 1.0, False)),
        ([("planet", "a")], ("producer_byte_rate", 1.0, False)),
        ([("ip", "1.2.3.4"), ("user", "a")], ("producer_byte_rate", 1.0, False)),
        ([("user", "")], ("producer_byte_rate", 1.0, False)),
        ([("user", "a")], ("connection_creation_rate", 1.0, False)),
        ([("ip", "1.2.3.4")], ("producer_byte_rate", 1.0, False)),
        ([("user", "a")], ("producer_byte_rate", 0.0, False)),
        ([("user", "a")], ("producer_byte_rate", -1.0, False)),
        ([("user", "a")], ("producer_byte_rate", 1.5, False)),
        ([("user", "a")], ("producer_byte_rate", float("nan"), False)),
        ([("ip", "1.2.3.4")], ("connection_creation_rate", 1.5, False)),
    ],
)
def test_quotas_that_cannot_be_are_refused(entity, op):
    decision = alter(World(), entry(entity, op))
    assert decision.records == ()
    assert code_of(decision) == "INVALID_REQUEST"
    assert decision.response.entries[0].error_message


def test_a_type_that_is_named_twice_is_the_last_one():
    world = World()
    alter(world, entry([("user", "a"), ("user", "b")], ("producer_byte_rate", 1.0, False)))
    assert list(world.image.quotas) == [quota_key([("user", "b")])]


def test_a_key_that_is_named_twice_is_refused_and_an_unknown_one_may_be_removed():
    world = World()
    twice = entry(
        [("user", "a")], ("producer_byte_rate", 1.0, False), ("producer_byte_rate", 2.0, False)
    )
    assert code_of(alter(world, twice)) == "INVALID_REQUEST"
    decision = alter(world, entry([("user", "a")], ("no_such", 0.0, True)))
    assert (code_of(decision), decision.records) == ("NONE", ())


def test_a_whole_number_may_be_off_by_very_little():
    world = World()
    alter(world, entry([("user", "a")], ("producer_byte_rate", 1.0000001, False)))
    assert world.image.quotas[quota_key([("user", "a")])] == {"producer_byte_rate": 1.0000001}


def test_percentages_may_have_fractions_and_addresses_their_rate():
    world = World()
    decision = alter(
        world,
        entry([("user", None)], ("request_percentage", 0.5, False)),
        entry([("ip", None)], ("connection_creation_rate", 7.0, False)),
    )
    assert [one.error_code for one in decision.response.entries] == [0, 0]
    assert len(world.image.quotas) == 2


def test_an_entity_named_twice_is_refused():
    one = entry([("user", "a")], ("request_percentage", 1.0, False))
    decision = alter(World(), one, one)
    assert decision.records == ()
    assert code_of(decision) == "INVALID_REQUEST"
