from __future__ import annotations

from quire.controller.sessions import Sessions


def test_a_session_lasts_from_the_last_heartbeat():
    sessions = Sessions(9000)
    sessions.start(1, 0)
    assert sessions.is_valid(1, 8999)
    assert not sessions.is_valid(1, 9000)
    sessions.touch(1, 5000, 17)
    assert sessions.is_valid(1, 13999)
    assert sessions.due_ms([1]) == 14000
    assert not sessions.is_valid(2, 0)


def test_what_a_broker_has_read_never_goes_back():
    sessions = Sessions(9000)
    sessions.touch(1, 0, 17)
    sessions.touch(1, 1, 12)
    sessions.touch(2, 1, 20)
    assert sessions.lowest_metadata_offset([1, 2]) == 17
    assert sessions.lowest_metadata_offset([]) is None
    assert sessions.due_ms([3]) is None


def test_a_registration_begins_a_session_anew():
    sessions = Sessions(9000)
    sessions.touch(1, 0, 17).controlled_shutdown_offset = 5
    sessions.start(1, 100)
    session = sessions.get(1)
    assert session is not None
    assert (session.last_contact_ms, session.metadata_offset) == (100, -1)
    assert session.controlled_shutdown_offset == -1
    sessions.end(1)
    assert sessions.get(1) is None
