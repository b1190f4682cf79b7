from __future__ import annotations

from quire.groups import states
from quire.groups.states import DEAD, EMPTY, NEXT, GroupState


def test_the_table_speaks_of_every_state_and_each_can_be_reached() -> None:
    assert set(NEXT) == set(GroupState)
    reached = {EMPTY}
    for _ in GroupState:
        reached |= {after for state in reached for after in NEXT[state]}
    assert reached == set(GroupState)


def test_every_state_may_end_and_the_dead_stay_dead() -> None:
    assert all(DEAD in after for state, after in NEXT.items() if state is not DEAD)
    assert NEXT[DEAD] == ()


def test_the_docstring_has_a_paragraph_for_each_state() -> None:
    assert states.__doc__ is not None
    assert all(f"\n{state.name}\n" in states.__doc__ for state in GroupState)
