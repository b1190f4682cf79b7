from __future__ import annotations

from quire.sim.history import History, Place, Value


def test_a_value_is_its_text() -> None:
    assert Value.of(Value("p/1", 7).text()) == Value("p/1", 7)


def test_what_no_producer_wrote_is_nobodys() -> None:
    assert Value.of(None) == Value.of(b"garbage") == Value.of(b"\xff") == Value("nobody", -1)


def test_places_are_named_as_their_directories() -> None:
    assert str(Place("orders", 3)) == "orders-3"


def test_faults_are_counted_by_kind() -> None:
    history = History()
    for name in ("kill", "cut", "kill"):
        history.count_fault(name)
    assert history.faults == {"kill": 2, "cut": 1}
