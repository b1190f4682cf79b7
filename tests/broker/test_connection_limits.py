from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.broker.connection_limits import AddressBounds, Bounds, ConnectionLimits, overrides

FREE = Bounds()


def test_overrides_name_hosts_and_counts() -> None:
    assert overrides("") == {}
    assert overrides("a:3, 10.0.0.1:200,::1:7") == {"a": 3, "10.0.0.1": 200, "::1": 7}


def test_an_override_counts_before_the_bound_of_all() -> None:
    limits = ConnectionLimits()
    bounds = AddressBounds(1, {"b": 0})
    assert not limits.is_one_too_many("a", bounds)
    assert limits.is_one_too_many("b", bounds)
    limits.admit("L", "a")
    assert limits.is_one_too_many("a", bounds)


def test_the_broker_and_the_listener_both_have_a_say() -> None:
    limits = ConnectionLimits()
    limits.admit("L", "a")
    assert limits.has_room("L", Bounds(2), FREE)
    assert not limits.has_room("L", Bounds(1), FREE)
    assert not limits.has_room("L", FREE, Bounds(1))
    assert limits.has_room("M", FREE, Bounds(1))


def test_a_rate_lets_a_burst_in_and_then_makes_wait() -> None:
    limits = ConnectionLimits()
    waits = [limits.wait_ms("L", Bounds(per_second=2), FREE, 1000 + number) for number in range(40)]
    assert waits[:20] == [0] * 20
    assert waits[-1] > 0
    assert limits.wait_ms("L", Bounds(per_second=2), FREE, 60_000) == 0


@given(st.lists(st.tuples(st.sampled_from("LM"), st.sampled_from("ab"))))
def test_what_is_released_leaves_nothing(connections: list[tuple[str, str]]) -> None:
    limits = ConnectionLimits()
    for listener, host in connections:
        limits.admit(listener, host)
        limits.check()
    for listener, host in reversed(connections):
        limits.release(listener, host)
        limits.check()
    assert limits.total == 0
    assert not limits.by_host
