"""raft.machine: elections and the high watermark, step by step, and its laws under any order of events."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.raft import machine as m
from quire.raft.quorum_state import QuorumState
from quire.raft.voters import Voter, VoterSet
from quire.sim.entropy import SeededEntropy

DIRECTORY = b"d" * 16
ME = Voter(1, DIRECTORY)


def quorum(
    others: int = 0, *, epoch: int = 0, end: int = 0, log_epoch: int = 0, me: Voter = ME
) -> m.QuorumMachine:
    voters = VoterSet([ME, *(Voter(2 + n, bytes([2 + n]) * 16) for n in range(others))])
    return m.QuorumMachine(
        me,
        voters,
        QuorumState(epoch),
        log_end_offset=end,
        log_epoch=log_epoch,
        election_timeout_ms=1000,
        entropy=SeededEntropy(1),
    )


def test_one_voter_wins_as_soon_as_its_vote_is_durable() -> None:
    machine = quorum(epoch=4, end=10, log_epoch=4)
    vote = QuorumState(5, -1, 1, DIRECTORY)
    assert machine.step(m.Started()) == (m.Persist(vote),)
    assert machine.role is m.Role.CANDIDATE
    assert machine.step(m.Persisted(vote)) == (
        m.TakeOffice(5, (1,)),
        m.Persist(QuorumState(5, 1)),
    )
    assert machine.is_leader
    assert machine.step(m.Flushed(10)) == ()  # nothing of its own epoch yet
    assert machine.step(m.Appended(11)) == ()
    assert machine.step(m.Flushed(11)) == (m.Committed(11),)
    machine.check()


def test_what_is_appended_counts_only_once_it_is_flushed() -> None:
    machine = leader()
    assert machine.step(m.Appended(9)) == ()
    assert machine.high_watermark == 1
    assert machine.step(m.Flushed(5)) == (m.Committed(5),)
    assert machine.step(m.Flushed(5)) == ()
    assert machine.step(m.Flushed(99)) == (m.Committed(9),)
    machine.check()


def leader() -> m.QuorumMachine:
    machine = quorum()
    (effect,) = machine.step(m.Started())
    assert isinstance(effect, m.Persist)
    machine.step(m.Persisted(effect.state))
    machine.step(m.Appended(1))
    machine.step(m.Flushed(1))
    return machine


def test_three_voters_wait_then_ask_and_two_decide() -> None:
    machine = quorum(others=2)
    (timer,) = machine.step(m.Started())
    assert isinstance(timer, m.SetElectionTimer)
    assert 1000 <= timer.after_ms < 2000
    (persist,) = machine.step(m.ElectionDue())
    assert isinstance(persist, m.Persist)
    assert machine.step(m.VoteAnswered(2, 1, granted=True)) == ()  # ours is not durable
    asked = machine.step(m.Persisted(persist.state))
    assert m.TakeOffice(1, (1, 2)) in asked
    machine.check()


def test_a_vote_that_is_refused_or_late_decides_nothing() -> None:
    machine = quorum(others=2)
    (persist,) = machine.step(m.ElectionDue())
    assert isinstance(persist, m.Persist)
    ask, timer = machine.step(m.Persisted(persist.state))
    assert ask == m.AskVotes(1, (2, 3))
    assert isinstance(timer, m.SetElectionTimer)
    assert machine.step(m.VoteAnswered(2, 1, granted=False)) == ()
    assert machine.step(m.VoteAnswered(3, 0, granted=True)) == ()
    assert machine.role is m.Role.CANDIDATE
    (again,) = machine.step(m.ElectionDue())
    assert again == m.Persist(QuorumState(2, -1, 1, DIRECTORY))
    assert machine.step(m.Persisted(persist.state)) == ()  # of the epoch before


def test_the_high_watermark_is_what_a_majority_has_flushed() -> None:
    machine = quorum(others=2)
    (persist,) = machine.step(m.ElectionDue())
    assert isinstance(persist, m.Persist)
    machine.step(m.Persisted(persist.state))
    machine.step(m.VoteAnswered(3, 1, granted=True))
    machine.step(m.Appended(8))
    assert machine.step(m.Flushed(8)) == ()
    assert machine.step(m.Fetched(2, 5)) == (m.Committed(5),)
    assert machine.step(m.Fetched(9, 8)) == ()  # no voter
    assert machine.step(m.Fetched(3, 7)) == (m.Committed(7),)
    machine.check()


def test_a_newer_epoch_ends_an_office() -> None:
    machine = leader()
    left, persist, timer = machine.step(m.EpochSeen(7, 3))
    assert left == m.LeaveOffice(1)
    assert persist == m.Persist(QuorumState(7, 3))
    assert isinstance(timer, m.SetElectionTimer)
    assert machine.step(m.EpochSeen(6)) == ()
    assert machine.epoch == 7


def test_a_leader_that_resigns_leads_no_more() -> None:
    machine = leader()
    assert machine.step(m.Resign()) == (m.LeaveOffice(1),)
    assert machine.step(m.Resign()) == ()
    assert machine.step(m.Flushed(1)) == ()


def test_an_observer_never_stands() -> None:
    machine = quorum(others=2, me=Voter(9, DIRECTORY))
    assert machine.step(m.Started()) == ()
    assert machine.step(m.ElectionDue()) == ()
    moved = quorum(others=0, me=Voter(1, b"x" * 16))
    assert moved.step(m.Started()) == ()


def test_a_log_that_is_ahead_of_a_lost_file_says_the_epoch() -> None:
    assert quorum(epoch=0, log_epoch=6).epoch == 6
    assert quorum(epoch=8, log_epoch=6).epoch == 8


events = st.one_of(
    st.just(m.Started()),
    st.just(m.ElectionDue()),
    st.just(m.Resign()),
    st.builds(m.VoteAnswered, st.integers(2, 3), st.integers(0, 6), granted=st.booleans()),
    st.builds(m.Flushed, st.integers(0, 40)),
    st.builds(m.Fetched, st.integers(2, 4), st.integers(0, 40)),
    st.builds(m.EpochSeen, st.integers(0, 6), st.sampled_from([-1, 2])),
    st.sampled_from(["append", "persist"]),
)


@settings(max_examples=300)
@given(st.integers(0, 2), st.lists(events, max_size=40))
def test_the_invariants_hold_under_any_order_of_events(
    others: int, happened: list[m.Event | str]
) -> None:
    machine = quorum(others)
    to_persist: list[QuorumState] = []
    led: set[int] = set()
    for event in happened:
        if event == "append":
            effects = machine.step(m.Appended(machine.log_end_offset + 1))
        elif event == "persist":
            effects = machine.step(m.Persisted(to_persist.pop(0))) if to_persist else ()
        else:
            assert not isinstance(event, str)
            effects = machine.step(event)
        machine.check()
        for effect in effects:
            if isinstance(effect, m.Persist):
                to_persist.append(effect.state)
            if isinstance(effect, m.TakeOffice):
                assert effect.epoch not in led
                led.add(effect.epoch)
