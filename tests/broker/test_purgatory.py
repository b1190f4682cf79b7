from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from quire.broker.purgatory import Purgatory


class Operation:
    """Waits for a number to be reached."""

    def __init__(self, name: str, ready: Callable[[], bool], story: list[str]) -> None:
        self.name = name
        self.ready = ready
        self.story = story
        self.on_complete: Callable[[], None] = lambda: None

    def try_complete(self) -> bool:
        if not self.ready():
            return False
        self.story.append(f"{self.name} completed")
        self.on_complete()
        return True

    def expire(self) -> None:
        self.story.append(f"{self.name} expired")


def test_what_can_be_answered_at_once_never_waits() -> None:
    purgatory, story = Purgatory(), list[str]()
    assert purgatory.watch(Operation("a", lambda: True, story), ["p"], deadline_ms=10)
    assert story == ["a completed"]
    assert len(purgatory) == 0


def test_a_change_asks_those_under_its_key_in_the_order_they_came() -> None:
    purgatory, story = Purgatory(), list[str]()
    ready = False
    for name, keys in (("a", ["p"]), ("b", ["q"]), ("c", ["p", "q"]), ("d", ["p"])):
        purgatory.watch(Operation(name, lambda: ready, story), keys, deadline_ms=10)
    assert purgatory.changed("p") == 0
    ready = True
    assert purgatory.changed("p") == 3
    assert story == ["a completed", "c completed", "d completed"]
    assert purgatory.keys() == ["q"]
    purgatory.check()


def test_deadlines_come_in_order_and_end_an_operation_everywhere() -> None:
    purgatory, story = Purgatory(), list[str]()
    for name, deadline_ms in (("late", 30), ("soon", 10), ("then", 20)):
        purgatory.watch(Operation(name, lambda: False, story), ["p", "q"], deadline_ms=deadline_ms)
    assert purgatory.next_deadline_ms() == 10
    assert purgatory.expire(9) == 0
    assert purgatory.expire(20) == 2
    assert story == ["soon expired", "then expired"]
    assert purgatory.next_deadline_ms() == 30
    assert purgatory.expire(1000) == 1
    assert purgatory.next_deadline_ms() is None
    assert purgatory.keys() == []


def test_what_nobody_will_complete_is_ended_by_its_key() -> None:
    purgatory, story = Purgatory(), list[str]()
    purgatory.watch(Operation("a", lambda: False, story), ["p"], deadline_ms=10)
    purgatory.watch(Operation("b", lambda: False, story), ["q"], deadline_ms=10)
    assert purgatory.expire_all("p") == 1
    assert story == ["a expired"]
    assert len(purgatory) == 1


def test_completing_one_may_add_and_complete_others() -> None:
    purgatory, story = Purgatory(), list[str]()
    level = 0
    first = Operation("first", lambda: level >= 1, story)
    first.on_complete = lambda: (
        purgatory.watch(Operation("added", lambda: level >= 2, story), ["p"], deadline_ms=10),
        purgatory.changed("p"),
    )[0]  # type: ignore[assignment, return-value]
    purgatory.watch(first, ["p"], deadline_ms=10)
    purgatory.watch(Operation("second", lambda: level >= 1, story), ["p"], deadline_ms=10)
    first.ready = lambda: level >= 1 and "first completed" not in story
    level = 1
    purgatory.changed("p")
    assert story == ["first completed", "second completed"]
    assert len(purgatory) == 1
    purgatory.check()


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("watch"), st.integers(0, 20), st.sets(st.sampled_from("pqr"), min_size=1)
        ),
        st.tuples(st.just("reach"), st.integers(0, 20), st.sampled_from("pqr")),
        st.tuples(st.just("time"), st.integers(0, 20), st.none()),
    ),
    max_size=60,
)


@given(STEPS)
def test_every_operation_ends_once_and_leaves_nothing(steps: list[tuple[str, int, object]]) -> None:
    purgatory, story = Purgatory(), list[str]()
    level = now_ms = made = 0

    def until(target: int) -> Callable[[], bool]:
        return lambda: level >= target

    for verb, number, what in steps:
        if verb == "watch":
            assert isinstance(what, set)
            operation = Operation(str(made), until(number), story)
            purgatory.watch(operation, sorted(what), deadline_ms=now_ms + number)
            made += 1
        elif verb == "reach":
            level = max(level, number)
            purgatory.changed(what)  # type: ignore[arg-type]
        else:
            now_ms += number
            purgatory.expire(now_ms)
        purgatory.check()
    purgatory.expire(1 << 40)
    assert sorted(line.split()[0] for line in story) == sorted(str(n) for n in range(made))
    assert len(purgatory) == 0
    assert purgatory.keys() == []
