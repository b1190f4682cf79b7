from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.broker.idle_wheel import WIDTH_MAX_MS, WIDTH_MIN_MS, IdleWheel


class Guest:
    def __init__(self, active_ms: int) -> None:
        self.active_ms = active_ms


def width(limit_ms: int) -> int:
    return min(max(limit_ms // 16, WIDTH_MIN_MS), WIDTH_MAX_MS)


@given(
    limit_ms=st.integers(200, 600_000),
    steps=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 60_000)), max_size=60),
)
def test_the_idle_are_found_in_time_and_the_living_never(
    limit_ms: int, steps: list[tuple[int, int]]
) -> None:
    wheel: IdleWheel[Guest] = IdleWheel(limit_ms)
    now = 0
    guests = [Guest(0) for _ in range(10)]
    for guest in guests:
        wheel.add(guest)
    present = set(guests)
    for number, passed in steps:
        now += passed
        idle = wheel.turn(now)
        wheel.check()
        for guest in idle:
            assert now - guest.active_ms >= limit_ms
            present.discard(guest)
        for guest in present:
            assert now - guest.active_ms <= limit_ms + width(limit_ms)
        if guests[number] in present:
            guests[number].active_ms = now
    assert len(wheel) == len(present)


def test_who_is_removed_is_never_idle() -> None:
    wheel: IdleWheel[Guest] = IdleWheel(1000)
    first, second = Guest(0), Guest(0)
    wheel.add(first)
    wheel.add(second)
    wheel.remove(first)
    wheel.remove(first)
    assert wheel.turn(10_000) == [second]
    assert wheel.next_ms() is None


def test_the_wheel_says_when_it_has_to_be_turned() -> None:
    wheel: IdleWheel[Guest] = IdleWheel(16_000)
    assert wheel.next_ms() is None
    wheel.add(Guest(500))
    due_ms = wheel.next_ms()
    assert due_ms is not None
    assert 16_500 <= due_ms <= 17_500
    assert wheel.turn(due_ms - 1) == []
    assert len(wheel.turn(due_ms)) == 1
