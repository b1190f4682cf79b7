from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.broker.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    MAX_EPOCH,
    FetchContext,
    FetchSessions,
    Found,
    PartitionKey,
    Wanted,
)
from quire.errors import ErrorCode

A, B, C = ("t", 0), ("t", 1), ("u", 0)
NOTHING = Found(ErrorCode.NONE, has_records=False, high_watermark=5, log_start_offset=0)
RECORDS = NOTHING._replace(has_records=True)


class Broker:
    """Sessions with a clock, and the two ways to fetch."""

    def __init__(self, slots: int = 10) -> None:
        ids = itertools.count()
        self.sessions = FetchSessions(slots=slots, eviction_ms=1000, draw_below=lambda _: next(ids))
        self.now_ms = 0

    def fetch(
        self,
        session_id: int,
        epoch: int,
        *keys: PartitionKey,
        forgotten: tuple[PartitionKey, ...] = (),
        uses_topic_ids: bool = False,
        is_follower: bool = False,
    ) -> FetchContext | ErrorCode:
        wanted = {key: Wanted(0, 1000) for key in keys}
        result = self.sessions.begin(
            session_id, epoch, wanted, forgotten,
            uses_topic_ids=uses_topic_ids, is_follower=is_follower, now_ms=self.now_ms,
        )  # fmt: skip
        self.sessions.check()
        return result

    def open(self, *keys: PartitionKey, is_follower: bool = False) -> FetchContext:
        context = self.fetch(0, INITIAL_EPOCH, *keys, is_follower=is_follower)
        assert isinstance(context, FetchContext)
        return context

    def go_on(
        self, session_id: int, epoch: int, *keys: PartitionKey, **more: object
    ) -> FetchContext:
        context = self.fetch(session_id, epoch, *keys, **more)  # type: ignore[arg-type]
        assert isinstance(context, FetchContext)
        return context


def test_a_new_session_is_answered_in_full() -> None:
    broker = Broker()
    context = broker.open(A, B)
    assert context.session_id > 0
    assert not context.is_incremental
    assert context.finish({A: NOTHING, B: RECORDS}) == [A, B]


def test_afterwards_only_news_are_told() -> None:
    broker = Broker()
    first = broker.open(A, B)
    first.finish({A: NOTHING, B: NOTHING})
    second = broker.go_on(first.session_id, 1)
    assert list(second.wanted) == [A, B], "what was wanted once is wanted on"
    assert second.finish({A: NOTHING, B: NOTHING}) == []
    third = broker.go_on(first.session_id, 2)
    higher = NOTHING._replace(high_watermark=6)
    assert third.finish({A: higher, B: RECORDS}) == [A, B]
    fourth = broker.go_on(first.session_id, 3)
    assert fourth.finish({A: higher._replace(log_start_offset=2), B: NOTHING}) == [A]


def test_an_error_is_told_each_time_and_so_is_its_end() -> None:
    broker = Broker()
    first = broker.open(A)
    first.finish({A: NOTHING})
    bad = NOTHING._replace(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    for epoch, found, told in ((1, bad, [A]), (2, bad, [A]), (3, NOTHING, [A]), (4, NOTHING, [])):
        assert broker.go_on(first.session_id, epoch).finish({A: found}) == told


def test_partitions_that_gave_records_go_to_the_end() -> None:
    broker = Broker()
    first = broker.open(A, B, C)
    first.finish({A: RECORDS, B: NOTHING, C: RECORDS})
    assert list(broker.go_on(first.session_id, 1).wanted) == [B, A, C]


def test_partitions_are_added_changed_and_forgotten() -> None:
    broker = Broker()
    first = broker.open(A, B)
    second = broker.go_on(first.session_id, 1, C, forgotten=(A,))
    assert list(second.wanted) == [B, C]
    assert second.finish({B: NOTHING, C: NOTHING}) == [B, C]


def test_a_session_without_partitions_is_closed() -> None:
    broker = Broker()
    first = broker.open(A)
    last = broker.go_on(first.session_id, 1, forgotten=(A,))
    assert last.session_id == 0
    assert len(broker.sessions) == 0


@pytest.mark.parametrize(
    ("session_id", "epoch", "uses_topic_ids", "error"),
    [
        (999, 1, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (1, 2, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, -7, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, 1, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_what_does_not_continue_a_session_is_refused(
    session_id: int, epoch: int, uses_topic_ids: bool, error: ErrorCode
) -> None:
    broker = Broker()
    assert broker.open(A).session_id == 1
    assert broker.fetch(session_id, epoch, uses_topic_ids=uses_topic_ids) is error
    assert broker.go_on(1, 1).session_id == 1, "the session itself is as it was"


def test_a_final_fetch_closes_its_session_and_is_answered_in_full() -> None:
    broker = Broker()
    first = broker.open(A)
    last = broker.fetch(first.session_id, FINAL_EPOCH, A, B)
    assert isinstance(last, FetchContext)
    assert (last.session_id, last.finish({A: NOTHING, B: NOTHING})) == (0, [A, B])
    assert len(broker.sessions) == 0


def test_epochs_wrap_to_one() -> None:
    broker = Broker()
    first = broker.open(A)
    broker.sessions._sessions[first.session_id].next_epoch = MAX_EPOCH
    broker.go_on(first.session_id, MAX_EPOCH)
    broker.go_on(first.session_id, 1)


def test_without_a_slot_a_fetch_has_no_session() -> None:
    broker = Broker(slots=1)
    broker.open(A)
    second = broker.open(A, B)
    assert second.session_id == 0
    assert second.finish({A: NOTHING, B: NOTHING}) == [A, B]


def test_an_idle_session_makes_room() -> None:
    broker = Broker(slots=1)
    first = broker.open(A)
    broker.now_ms = 1001
    assert broker.open(B).session_id > 0
    assert broker.fetch(first.session_id, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert broker.sessions.evictions == 1


def test_a_larger_session_takes_the_place_of_a_smaller_one_that_has_had_its_time() -> None:
    broker = Broker(slots=1)
    first = broker.open(A)
    for epoch, moment in ((1, 600), (2, 1200)):
        broker.now_ms = moment
        broker.go_on(first.session_id, epoch)
    assert broker.open(B).session_id == 0, "not larger"
    assert broker.open(A, B).session_id > 0


def test_a_follower_takes_a_consumers_place_and_never_the_other_way() -> None:
    broker = Broker(slots=1)
    broker.open(A, B, C)
    follower = broker.open(A, is_follower=True)
    assert follower.session_id > 0
    broker.now_ms = 900
    assert broker.open(A, B, C).session_id == 0
    assert broker.go_on(follower.session_id, 1).session_id == follower.session_id


@given(
    st.lists(
        st.tuples(st.sampled_from([A, B, C]), st.integers(0, 3), st.integers(0, 2), st.booleans()),
        max_size=40,
    )
)
def test_a_fetcher_that_remembers_what_it_was_told_knows_the_truth(
    changes: list[tuple[PartitionKey, int, int, bool]],
) -> None:
    broker = Broker()
    truth = dict.fromkeys((A, B, C), NOTHING)
    context = broker.open(A, B, C)
    known = {key: truth[key] for key in context.finish(truth)}
    for epoch, (key, high_watermark, log_start_offset, is_bad) in enumerate(changes, 1):
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_bad else ErrorCode.NONE
        truth[key] = Found(
            error,
            has_records=False,
            high_watermark=high_watermark,
            log_start_offset=log_start_offset,
        )
        context = broker.go_on(context.session_id, epoch)
        found = {one: truth[one] for one in context.wanted}
        known.update({one: truth[one] for one in context.finish(found)})
        assert known == truth
