"""The machine: what each command comes to, and the law that the log is all there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.coordination import Caller, Decision, KeyValue, Moment, Producer
from quire.errors import ErrorCode
from quire.metadata.image import EMPTY
from quire.transactions.commands import (
    NEEDS_PRODUCER_ID,
    Add,
    Complete,
    Describe,
    End,
    Ending,
    Init,
    ListAll,
    Verify,
)
from quire.transactions.commands import Producer as Granted
from quire.transactions.log import written
from quire.transactions.machine import (
    AT_ONCE_MAX,
    LOOK_FOR_EXPIRED,
    LOOK_FOR_TIMEOUTS,
    TransactionCoordinator,
    TransactionSettings,
)
from quire.transactions.states import State
from quire.transactions.transaction import EPOCH_MAX, LAST_EPOCH, ProducerId
from quire.types import TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 1)
NOBODY = Caller(version=0)
CONCURRENT = Granted(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED = Granted(ErrorCode.PRODUCER_FENCED)


class Desk:
    """A coordinator and its log; ids and time are drawn one after the other."""

    def __init__(self, level: int = 2, **bounds: int) -> None:
        self.settings = TransactionSettings(**bounds)
        self.machine = self.fresh()
        self.log: list[KeyValue] = []
        self.effects: list[Ending] = []
        self.image = replace(EMPTY, features={"transaction.version": level})
        self.now_ms = 1_000_000
        self.next_id = 100

    def fresh(self) -> TransactionCoordinator:
        return TransactionCoordinator(lambda: self.settings)

    def moment(self) -> Moment:
        return Moment(self.now_ms, self.image)

    def take(self, decision: Decision) -> Decision:
        for record in decision.records:
            self.machine.replay(record, offset=len(self.log), producer=None)
            self.log.append(record)
        self.effects += decision.effects
        self.machine.check()
        return decision

    def ask(self, command: Any) -> Any:
        decision = self.take(self.machine.command(1, command, NOBODY, self.moment()))
        assert [answer.ticket for answer in decision.answers] == [1]
        response = decision.answers[0].response
        if response is NEEDS_PRODUCER_ID:
            assert decision.records == ()
            self.next_id += 1
            return self.ask(command._replace(fresh_id=self.next_id))
        return response

    def init(self, expected: ProducerId | None = None, name: str = "t") -> Granted:
        answer = self.ask(Init(name, 60_000, expected))
        assert isinstance(answer, Granted)
        return answer

    def begin(self) -> ProducerId:
        code, producer_id, epoch = self.init()
        assert code is ErrorCode.NONE
        return ProducerId(producer_id, epoch)

    def add(self, producer: ProducerId, *places: TopicPartition, version: int = 2) -> ErrorCode:
        code = self.ask(Add("t", producer, places or (A,), version))
        assert isinstance(code, ErrorCode)
        return code

    def end(self, producer: ProducerId, *, committed: bool = True, version: int = 2) -> Granted:
        answer = self.ask(End("t", producer, committed, version))
        assert isinstance(answer, Granted)
        return answer

    def complete(self) -> None:
        """The markers of the last end are everywhere."""
        ending = self.effects[-1]
        assert self.ask(Complete(ending.transactional_id, ending.producer)) is None

    def timer(self, key: str) -> Decision:
        return self.take(self.machine.on_timer(key, self.moment()))

    @property
    def state(self) -> State:
        return self.machine.transactions["t"].state

    def set_epoch(self, epoch: int) -> ProducerId:
        """As if that many transactions had been."""
        one = self.machine.transactions["t"]
        self.machine.transactions["t"] = replace(one, epoch=epoch)
        return ProducerId(one.producer_id, epoch)


# --- InitProducerId ---------------------------------------------------------------------------


def test_a_new_id_gets_a_producer_id_in_epoch_0_and_every_later_producer_the_next_epoch() -> None:
    desk = Desk()
    assert desk.init() == (ErrorCode.NONE, 101, 0)
    assert desk.init() == (ErrorCode.NONE, 101, 1)
    assert desk.init(name="other") == (ErrorCode.NONE, 102, 0)
    assert desk.state is State.EMPTY


def test_a_producer_that_says_who_it_is_goes_on_and_may_repeat_itself() -> None:
    desk = Desk()
    me = desk.begin()
    assert desk.init(me) == (ErrorCode.NONE, 101, 1)
    assert desk.init(me) == (ErrorCode.NONE, 101, 1), "the same question has the same answer"
    assert desk.init(ProducerId(101, 1)) == (ErrorCode.NONE, 101, 2)
    assert desk.init(me) == FENCED
    assert desk.init(ProducerId(77, 1)) == FENCED


def test_after_a_new_producer_the_old_one_is_fenced_not_taken_for_a_repeat() -> None:
    desk = Desk()
    old = desk.begin()
    new = desk.begin()
    assert desk.init(old) == FENCED
    assert desk.add(old) is ErrorCode.PRODUCER_FENCED
    assert desk.init(new) == (ErrorCode.NONE, 101, 2)


def test_after_a_reload_a_repeat_is_fenced_for_it_cannot_be_told_from_a_stranger() -> None:
    desk = Desk()
    me = desk.begin()
    desk.init(me)
    again = desk.fresh()
    for offset, record in enumerate(desk.log):
        again.replay(record, offset=offset, producer=None)
    desk.machine = again
    assert desk.init(me) == FENCED


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_beyond_the_bounds_is_refused(timeout_ms: int) -> None:
    desk = Desk()
    refused = desk.ask(Init("t", timeout_ms))
    assert refused.code is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert desk.log == []


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_second_producer_aborts_what_is_open_in_a_bumped_epoch_and_then_gets_its_own(
    level: int,
) -> None:
    desk = Desk(level)
    old = desk.begin()
    desk.add(old, A, B, version=0)
    assert desk.init() == CONCURRENT
    (ending,) = desk.effects
    assert ending[:4] == ("t", ProducerId(101, 1), False, (A, B))
    assert ending.client_version == (2 if level == 2 else 0)
    assert desk.init() == CONCURRENT, "the markers are not everywhere"
    desk.complete()
    assert desk.state is State.COMPLETE_ABORT
    assert desk.init() == (ErrorCode.NONE, 101, 2)
    assert desk.end(old, version=0) == FENCED


def test_when_no_epoch_is_left_a_new_producer_gets_a_new_id_and_a_repeat_the_same() -> None:
    desk = Desk()
    desk.begin()
    last = desk.set_epoch(LAST_EPOCH)
    assert desk.init(last) == (ErrorCode.NONE, 102, 0)
    assert desk.init(last) == (ErrorCode.NONE, 102, 0)
    assert desk.machine.transactions["t"].previous_producer_id == 102


def test_an_open_transaction_in_the_last_epoch_can_still_be_fenced() -> None:
    desk = Desk()
    desk.begin()
    last = desk.set_epoch(LAST_EPOCH)
    desk.add(last)
    assert desk.init() == CONCURRENT
    assert desk.effects[-1].producer == (101, EPOCH_MAX)
    desk.complete()
    assert desk.init() == (ErrorCode.NONE, 102, 0)


# --- AddPartitionsToTxn -----------------------------------------------------------------------


def test_partitions_are_added_once_and_verified() -> None:
    desk = Desk()
    me = desk.begin()
    assert desk.add(me, A) is ErrorCode.NONE
    assert desk.state is State.ONGOING
    length = len(desk.log)
    assert desk.add(me, A) is ErrorCode.NONE
    assert len(desk.log) == length, "nothing new, nothing written"
    assert desk.ask(Verify("t", me, (A, B))) == [ErrorCode.NONE, ErrorCode.TRANSACTION_ABORTABLE]
    assert desk.add(me, B) is ErrorCode.NONE
    assert desk.machine.transactions["t"].partitions == (A, B)


def test_strangers_and_the_fenced_add_nothing() -> None:
    desk = Desk()
    assert desk.add(ProducerId(1, 0)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    me = desk.begin()
    assert desk.add(ProducerId(1, 0)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert desk.add(ProducerId(me.producer_id, 7)) is ErrorCode.PRODUCER_FENCED
    stranger = Verify("t", ProducerId(1, 0), (A,))
    assert desk.ask(stranger) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    assert desk.state is State.EMPTY


def test_while_an_end_is_on_its_way_nothing_is_added() -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me)
    desk.end(me, version=0)
    assert desk.add(me) is ErrorCode.CONCURRENT_TRANSACTIONS
    desk.complete()
    assert desk.add(me) is ErrorCode.NONE


def test_who_asks_of_another_s_transaction_is_told_so_while_it_ends_too() -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me)
    desk.end(me, version=0)
    assert desk.ask(Verify("t", me, (A,))) == [ErrorCode.CONCURRENT_TRANSACTIONS]
    older = ProducerId(me.producer_id, me.epoch - 1)
    assert desk.ask(Verify("t", older, (A, B))) == [ErrorCode.PRODUCER_FENCED] * 2
    stranger = ProducerId(me.producer_id + 1, me.epoch)
    assert desk.ask(Verify("t", stranger, (A,))) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]


# --- EndTxn -----------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
def test_an_end_is_decided_then_complete_and_repeats_are_answered(committed: bool) -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me, A, version=0)
    assert desk.end(me, committed=committed, version=0) == (ErrorCode.NONE, 101, 0)
    assert desk.end(me, committed=committed, version=0) == CONCURRENT
    assert desk.effects == [Ending("t", me, committed, (A,), 0)]
    desk.complete()
    assert desk.state is (State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT)
    assert desk.end(me, committed=committed, version=0).code is ErrorCode.NONE
    wrong = desk.end(me, committed=not committed, version=0)
    assert wrong.code is ErrorCode.INVALID_TXN_STATE


def test_in_version_2_every_end_answers_with_the_next_epoch() -> None:
    desk = Desk()
    me = desk.begin()
    for epoch in range(3):
        desk.add(me)
        assert desk.end(me) == (ErrorCode.NONE, 101, epoch + 1)
        assert desk.end(me) == CONCURRENT
        assert desk.effects[-1].producer == (101, epoch + 1)
        desk.complete()
        assert desk.end(me) == (ErrorCode.NONE, 101, epoch + 1), "it did not hear the answer"
        me = ProducerId(101, epoch + 1)


def test_an_abort_of_nothing_bumps_the_epoch_in_version_2_only() -> None:
    desk = Desk()
    me = desk.begin()
    assert desk.end(me, committed=False, version=0).code is ErrorCode.INVALID_TXN_STATE
    assert desk.end(me, committed=True).code is ErrorCode.INVALID_TXN_STATE
    assert desk.end(me, committed=False) == (ErrorCode.NONE, 101, 1)
    assert desk.effects[-1].partitions == ()
    desk.complete()
    assert desk.end(ProducerId(101, 1), committed=False) == (ErrorCode.NONE, 101, 2)


def test_with_its_last_epoch_a_transaction_hands_over_to_the_next_id() -> None:
    desk = Desk()
    desk.begin()
    last = desk.set_epoch(LAST_EPOCH)
    desk.add(last)
    assert desk.end(last) == (ErrorCode.NONE, 102, 0)
    assert desk.effects[-1].producer == (101, EPOCH_MAX)
    desk.complete()
    assert desk.end(last) == (ErrorCode.NONE, 102, 0), "a repeat"
    assert desk.init(last) == (ErrorCode.NONE, 102, 0), "a repeat by another request"
    assert desk.add(ProducerId(102, 0)) is ErrorCode.NONE


def test_an_unknown_transaction_cannot_end() -> None:
    refused = Desk().end(ProducerId(1, 0))
    assert refused == (ErrorCode.INVALID_PRODUCER_ID_MAPPING, -1, -1)


def test_late_words_of_markers_change_nothing() -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me)
    assert desk.ask(Complete("t", me)) is None
    assert desk.state is State.ONGOING
    desk.end(me)
    assert desk.ask(Complete("t", me)) is None
    assert desk.state is State.PREPARE_COMMIT, "its markers have the next epoch"
    assert desk.ask(Complete("gone", me)) is None


# --- time -------------------------------------------------------------------------------------


def test_what_takes_too_long_is_aborted_and_its_producer_fenced() -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me)
    desk.now_ms += 60_000
    assert desk.timer(LOOK_FOR_TIMEOUTS).records == ()
    desk.now_ms += 1
    decision = desk.timer(LOOK_FOR_TIMEOUTS)
    assert [timer.after_ms for timer in decision.timers] == [10_000]
    assert desk.effects[-1][:3] == ("t", ProducerId(101, 1), False)
    assert desk.end(me, version=0) == FENCED
    assert desk.timer(LOOK_FOR_TIMEOUTS).records == (), "once is enough"


@pytest.mark.parametrize("level", [1, 2])
def test_a_producer_that_bumps_its_epoch_may_go_on_after_a_timeout(level: int) -> None:
    desk = Desk(level)
    me = desk.begin()
    desk.add(me)
    desk.now_ms += 60_001
    desk.timer(LOOK_FOR_TIMEOUTS)
    desk.complete()
    assert desk.init(me) == ((ErrorCode.NONE, 101, 1) if level == 2 else FENCED)
    assert desk.init() == (ErrorCode.NONE, 101, 2), "who comes anew fences it all the same"
    assert desk.init(me) == FENCED


def test_ids_that_are_not_used_are_forgotten_but_not_open_ones() -> None:
    desk = Desk(id_expiration_ms=5_000)
    me = desk.begin()
    desk.init(name="idle")
    desk.add(me)
    desk.now_ms += 5_000
    decision = desk.timer(LOOK_FOR_EXPIRED)
    assert decision.records == (KeyValue(b"\x00\x00\x00\x04idle", None),)
    assert list(desk.machine.transactions) == ["t"]


def test_more_than_one_batch_takes_are_left_for_the_next_moment() -> None:
    desk = Desk(id_expiration_ms=5_000)
    for number in range(AT_ONCE_MAX + 1):
        desk.init(name=f"id-{number}")
    desk.now_ms += 5_000
    first = desk.timer(LOOK_FOR_EXPIRED)
    assert (len(first.records), first.timers[0].after_ms) == (AT_ONCE_MAX, 0)
    second = desk.timer(LOOK_FOR_EXPIRED)
    assert (len(second.records), second.timers[0].after_ms) == (1, 3_600_000)


def test_whoever_takes_over_carries_out_what_was_decided() -> None:
    desk = Desk()
    me = desk.begin()
    desk.add(me, A, B)
    desk.end(me)
    again = desk.fresh()
    for offset, record in enumerate(desk.log):
        again.replay(record, offset=offset, producer=None)
    decision = again.loaded(desk.moment())
    assert decision.effects == tuple(desk.effects)
    assert {timer.key for timer in decision.timers} == {LOOK_FOR_TIMEOUTS, LOOK_FOR_EXPIRED}
    assert again.on_image(desk.moment(), ("a",)).records == ()


# --- questions, and the law -------------------------------------------------------------------


def test_questions_change_nothing() -> None:
    desk = Desk()
    desk.begin()
    desk.init(name="s")
    length = len(desk.log)
    assert desk.ask(Describe("t")).state is State.EMPTY
    assert desk.ask(Describe("nobody")) is None
    assert [name for name, _ in desk.ask(ListAll())] == ["s", "t"]
    desk.machine.replay_end(Producer(1, 0), committed=True)
    assert len(desk.log) == length


def test_records_of_unknown_types_are_passed_over() -> None:
    desk = Desk()
    desk.machine.replay(KeyValue(b"\x00\x09\x00\x01x", b"\x00"), offset=0, producer=None)
    assert desk.machine.transactions == {}


IDS = st.sampled_from(["t", "u"])
PLACES = st.lists(st.sampled_from([A, B]), min_size=1, max_size=2, unique=True).map(tuple)
PRODUCERS = st.builds(ProducerId, st.integers(100, 103), st.integers(0, 3))
EXHAUSTED = st.builds(ProducerId, st.integers(100, 103), st.integers(LAST_EPOCH - 1, EPOCH_MAX))
VERSIONS = st.sampled_from([0, 2])
STEPS = st.one_of(
    st.builds(Init, IDS, st.just(1000), st.none() | PRODUCERS | EXHAUSTED, st.none()),
    st.builds(Add, IDS, PRODUCERS | EXHAUSTED, PLACES, VERSIONS),
    st.builds(End, IDS, PRODUCERS | EXHAUSTED, st.booleans(), VERSIONS, st.none()),
    st.just("complete"),
    st.just(LOOK_FOR_TIMEOUTS),
    st.just(LOOK_FOR_EXPIRED),
    st.sampled_from([LAST_EPOCH - 1, LAST_EPOCH]),
    st.just("mine"),
)


@settings(max_examples=150, deadline=None)
@given(level=st.sampled_from([0, 1, 2]), steps=st.lists(STEPS, max_size=30), data=st.data())
def test_the_state_is_the_fold_of_the_log_and_epochs_never_go_back(
    level: int, steps: list[Any], data: st.DataObject
) -> None:
    desk = Desk(level, id_expiration_ms=3_000)
    highest: dict[tuple[str, int], int] = {}
    for step in steps:
        desk.now_ms += data.draw(st.sampled_from([0, 400, 2_000]))
        if step == "complete":
            if desk.effects:
                desk.complete()
        elif step == "mine":
            for name, one in list(desk.machine.transactions.items()):
                me = ProducerId(one.producer_id, one.epoch)
                desk.ask(Add(name, me, (A,), 2))
                desk.ask(End(name, me, data.draw(st.booleans()), data.draw(VERSIONS)))
        elif isinstance(step, int):
            for name, one in list(desk.machine.transactions.items()):
                if one.state.may_expire:
                    older = replace(one, epoch=max(one.epoch, step))
                    desk.take(Decision((written(name, older, transaction_version=level),)))
        elif isinstance(step, str):
            desk.timer(step)
        else:
            desk.ask(step)
        for name, one in desk.machine.transactions.items():
            key = (name, one.producer_id)
            assert one.epoch >= highest.get(key, -1)
            highest[key] = one.epoch
    again = desk.fresh()
    for offset, record in enumerate(desk.log):
        again.replay(record, offset=offset, producer=None)
    assert again.transactions == desk.machine.transactions
    again.check()
