from __future__ import annotations

from quire.assignors.subscriptions import Subscriber, assignment_of, in_order

A, B = bytes(15) + b"a", bytes(15) + b"b"


def test_static_members_come_first_by_their_instance_then_the_others_by_their_id() -> None:
    nothing: frozenset[bytes] = frozenset()
    members = {
        "z": Subscriber(nothing),
        "y": Subscriber(nothing, instance_id="2"),
        "a": Subscriber(nothing),
        "x": Subscriber(nothing, instance_id="1"),
    }
    assert in_order(members) == ["x", "y", "a", "z"]
    assert in_order(dict(reversed(members.items()))) == ["x", "y", "a", "z"]


def test_an_assignment_is_in_order_and_has_no_topic_without_partitions() -> None:
    assert assignment_of([(B, 1), (A, 3), (B, 0)]) == {A: (3,), B: (0, 1)}
    assert assignment_of([]) == {}
