"""Declared classes behave like small dataclasses, and say what is wrong with a declaration."""

from __future__ import annotations

import pytest

from quire.protocol.messages.fetch import FetchPartition, FetchRequest, ReplicaState
from quire.protocol.schema import (
    MISSING,
    Array,
    Int32,
    Nested,
    Scalar,
    Variable,
    declaration_of,
    field,
    fields_of,
    message,
    structure,
    unknown_tags_of,
)


@structure
class Pair:
    left: Int32
    right: str = field(default="r")


@message(key=7, versions=(1, 3), flexible=2, latest_unstable=True)
class SampleRequest:
    """A message of these tests."""

    pairs: list[Pair]
    note: str | None = field(since=2, nullable_since=3, default="")
    inner: Pair | None = field(since=3, tag=0, default=None)
    many: list[str] = field(since=3, tag=1, default=["a"])


def test_a_declaration_knows_its_versions():
    declared = declaration_of(SampleRequest)
    assert (declared.name, declared.kind, declared.key) == ("SampleRequest", "request", 7)
    assert list(declared.versions) == [1, 2, 3]
    assert declared.highest_stable == 2
    assert [declared.is_flexible(version) for version in declared.versions] == [False, True, True]


def test_fields_are_resolved_in_their_order():
    pairs, note, inner, many = fields_of(SampleRequest)
    assert pairs.type == Array(Nested(Pair))
    assert note.type == Variable("string")
    assert inner.type == Nested(Pair)
    assert many.type == Array(Variable("string"))
    assert isinstance(fields_of(Pair)[0].type, Scalar)
    assert [one.required for one in (pairs, note, inner, many)] == [True, False, False, False]


def test_versions_and_nullability_follow_the_options():
    _, note, *_ = fields_of(SampleRequest)
    assert [note.in_version(version) for version in (1, 2, 3)] == [False, True, True]
    assert [note.nullable_in(version) for version in (2, 3)] == [False, True]


def test_wire_names_are_derived():
    names = [one.wire_name for one in fields_of(FetchRequest)]
    assert names[:4] == ["ClusterId", "ReplicaId", "ReplicaState", "MaxWaitMs"]


def test_values_are_given_by_keyword_only_and_required_ones_must_be():
    assert Pair(left=1).right == "r"
    with pytest.raises(TypeError, match="left"):
        Pair()
    with pytest.raises(TypeError):
        Pair(1)
    with pytest.raises(TypeError, match="middle"):
        Pair(left=1, middle=2)


def test_instances_have_slots_and_nothing_else():
    pair = Pair(left=1)
    with pytest.raises(AttributeError):
        pair.other = 1
    assert not hasattr(pair, "__dict__")
    assert unknown_tags_of(pair) == ()


def test_equal_fields_make_equal_messages_and_messages_are_not_hashable():
    assert Pair(left=1) == Pair(left=1)
    assert Pair(left=1) != Pair(left=2)
    assert Pair(left=1) != "Pair"
    changed = Pair(left=1)
    changed.unknown_tags = ((1, b""),)
    assert changed != Pair(left=1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Pair(left=1))


def test_a_message_shows_its_fields():
    assert repr(ReplicaState()) == "ReplicaState(replica_id=-1, replica_epoch=-1)"


def test_defaults_that_can_change_are_made_anew():
    first, second = SampleRequest(pairs=[]), SampleRequest(pairs=[])
    first.many.append("b")
    assert second.many == ["a"]
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[])
    other = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[])
    assert request.replica_state == other.replica_state
    assert request.replica_state is not other.replica_state


def test_a_default_may_be_asked_for():
    directory = {one.name: one for one in fields_of(FetchPartition)}["replica_directory_id"]
    assert directory.make_default() == bytes(16)
    assert fields_of(FetchPartition)[0].options.default is MISSING
    assert repr(MISSING) == "MISSING"


def test_a_type_without_a_form_on_the_wire_is_refused_when_first_used():
    @structure
    class Odd:
        amount: complex

    @structure
    class Either:
        value: int | str | None

    with pytest.raises(TypeError, match=r"Odd\.amount: .*complex.* has no form"):
        fields_of(Odd)
    with pytest.raises(TypeError, match=r"Either\.value: only `X \| None`"):
        fields_of(Either)


def test_declaring_evaluates_nothing():
    @structure
    class Later:
        value: NotYetThere  # noqa: F821 -- the point of the test

    with pytest.raises(NameError, match="NotYetThere"):
        fields_of(Later)
