"""Bugs that are planted in the production code, in tests only, each to be caught by the simulator.

A bug is data: its name, the workload that is to catch it, and what it puts in the place of production code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from quire.broker import reading
from quire.broker.coordinators import Coordinators
from quire.broker.flushing import Flushes
from quire.broker.markers import Markers
from quire.broker.replica import Replica
from quire.errors import ErrorCode
from quire.groups import membership, rebalance
from quire.groups.classic import ClassicGroup
from quire.groups.keys import type_of
from quire.groups.stored import Stored
from quire.sim.disk import SimFile
from quire.storage.producer_state import ACCEPT, ProducerStates
from quire.transactions import machine
from quire.transactions.machine import LOOK_FOR_TIMEOUTS, TransactionCoordinator
from quire.transactions.transaction import ProducerId, Transaction


class Planted(NamedTuple):
    """One bug."""

    name: str
    workload: str
    plant: Callable[[pytest.MonkeyPatch], None]
    law: str
    """What is to be told by whoever catches it: a part of the sentence."""
    seeds: int = 20
    """Within so many it is to be caught."""
    first: int = 0
    """From which seed on it is looked for: what is caught once in hundreds of seeds is not waited for."""


def instead(
    owner: Any, name: str, make: Callable[[Any], Any]
) -> Callable[[pytest.MonkeyPatch], None]:
    """Put what `make` makes of the original in its place."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(owner, name, make(getattr(owner, name)))

    return plant


# --- records ----------------------------------------------------------------------------------


def flush_lies(flush: Any) -> Any:
    def lie(self: SimFile) -> None:
        if "/topic-" not in self.path or not self.path.endswith(".log"):
            flush(self)

    return lie


def answers_before_the_disk(when_durable: Any) -> Any:
    def early(self: Flushes, replica: Replica, end_offset: int, told: Any) -> None:
        assert replica.leader is not None
        told.func.__self__.advance(replica, replica.leader.on_appended(end_offset, 0))
        when_durable(self, replica, end_offset, told)

    return early


def everything_is_new(_check: Any) -> Any:
    return lambda *_args, **_named: ACCEPT


def shows_up_to(bound: Callable[[Any], int]) -> Callable[[Any], Any]:
    return lambda _original: lambda _reader, replica: bound(replica.log)


# --- groups -----------------------------------------------------------------------------------


def commits_of_anybody(_refuse: Any) -> Any:
    return lambda _group, _claim: ErrorCode.NONE


def commits_of_any_generation(refuse: Any) -> Any:
    def check(group: ClassicGroup, claim: Any) -> ErrorCode:
        code = refuse(group, claim)
        return ErrorCode.NONE if code is ErrorCode.ILLEGAL_GENERATION else code

    return check


def beats_of_any_generation(_refuse: Any) -> Any:
    return lambda group, request: group.validate(request.member_id, request.group_instance_id)


def same_generation(complete: Any) -> Any:
    def again(group: ClassicGroup, step: Any) -> None:
        if group.generation > 0:
            group.generation -= 1
        complete(group, step)

    return again


def shares_are_kept(settled: Any) -> Any:
    def keep(group: ClassicGroup, step: Any, assignments: dict[str, bytes]) -> None:
        kept = {m.member_id: m.assignment for m in group.members.values() if m.assignment}
        settled(group, step, {**assignments, **kept})

    return keep


def everybody_leads(tell: Any) -> Any:
    def flatter(group: ClassicGroup, step: Any, ticket: Any, member: Any, **named: Any) -> None:
        group.leader = member.member_id
        tell(group, step, ticket, member, **{**named, "with_members": True})

    return flatter


def each_leader_is_heard(sync: Any) -> Any:
    def listen(group: ClassicGroup, step: Any, ticket: Any, request: Any) -> None:
        if request.assignments and request.member_id in group.members:
            group.leader = request.member_id
            mine = {one.member_id: bytes(one.assignment) for one in request.assignments}
            if group.state is membership.COMPLETING:
                sync(group, step, ticket, request)
                return
            group.members[request.member_id].assignment = mine.get(request.member_id, b"")
        sync(group, step, ticket, request)

    return listen


def two_leaders(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "tell_joined", everybody_leads(rebalance.tell_joined))
    patch.setattr("quire.groups.coordinator.sync", each_leader_is_heard(membership.sync))


def sessions_do_not_begin_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "keep_alive", lambda *_args, **_named: None)
    patch.setattr(ClassicGroup, "touch", lambda *_args: None)


def sessions_do_not_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "on_session_timer", lambda *_args: None)


def former_instances_are_believed(refuse: Any) -> Any:
    def check(group: ClassicGroup, claim: Any) -> ErrorCode:
        code: ErrorCode = refuse(group, claim)
        return ErrorCode.NONE if code is ErrorCode.FENCED_INSTANCE_ID else code

    return check


def answers_before_they_are_safe(_hold: Any) -> Any:
    def give(self: Coordinators, office: Any, decision: Any) -> None:
        self._give(office, decision)

    return give


def newest_offset_is_the_lowest(put: Any) -> Any:
    """A commit that comes second in its batch is taken for older."""

    def keep(self: Stored, key: Any, position: Any) -> None:
        known = self.committed(key)
        if known is not None and position.record_offset == known.record_offset + 1:
            return
        put(self, key, position)

    return keep


# --- transactions -----------------------------------------------------------------------------


def first_marker_only(send: Any) -> Any:
    async def some(self: Markers, marker: Any, places: Any) -> Any:
        wanted = tuple(places)
        codes = await send(self, marker, wanted[:1])
        return dict.fromkeys(wanted, ErrorCode.NONE) | codes

    return some


def markers_of_another_kind(send: Any) -> Any:
    """The second partition of a commit gets an abort."""

    async def torn(self: Markers, marker: Any, places: Any) -> Any:
        wanted = tuple(places)
        codes = await send(self, marker, wanted[:1])
        if wanted[1:]:
            codes |= await send(self, marker._replace(committed=False), wanted[1:])
        return codes

    return torn


def nobody_was_aborted(_aborted: Any) -> Any:
    return lambda *_args: []


def epoch_stays_for_who_takes_over(begin: Any) -> Any:
    def same(self: Any, ticket: Any, request: Any, one: Transaction, goes: Any, moment: Any) -> Any:
        kept = ProducerId(goes.producer_id, max(one.epoch, 0))
        return begin(self, ticket, request, one, kept, moment)

    return same


def epoch_stays_when_fenced(fenced: Any) -> Any:
    def same(one: Transaction, **named: Any) -> Transaction:
        return replace(fenced(one, **named), epoch=one.epoch)

    return same


def pending_offsets_hold_at_once(replay: Any) -> Any:
    def at_once(self: Stored, record: Any, offset: int, producer: Any) -> None:
        is_offset = type_of(record.key) in (0, 1)
        replay(self, record, offset, None if is_offset else producer)

    return at_once


def aborted_offsets_hold(end: Any) -> Any:
    def commit(self: Stored, producer_id: int, *, committed: bool) -> None:
        del committed
        end(self, producer_id, committed=True)

    return commit


def committed_offsets_are_dropped(end: Any) -> Any:
    def drop(self: Stored, producer_id: int, *, committed: bool) -> None:
        end(self, producer_id, committed=committed and producer_id % 2 == 0)

    return drop


def ends_are_forgotten_at_a_restart(loaded: Any) -> Any:
    def forget(self: Any, moment: Any) -> Any:
        return replace(loaded(self, moment), effects=())

    return forget


def nothing_is_too_old(on_timer: Any) -> Any:
    def never(self: Any, key: Any, moment: Any) -> Any:
        if key == LOOK_FOR_TIMEOUTS:
            moment = moment._replace(now_ms=0)
        return on_timer(self, key, moment)

    return never


def strangers_may_add(_stranger: Any) -> Any:
    return lambda one, _producer: (
        ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if one is None
        else ErrorCode.CONCURRENT_TRANSACTIONS
        if one.state.is_prepared
        else ErrorCode.NONE
    )


PLANTED = (
    Planted(
        "a flush flushes nothing",
        "produce_consume",
        instead(SimFile, "flush", flush_lies),
        "CorruptBatchError",
    ),
    Planted(
        "the high watermark does not wait for the disk",
        "produce_consume",
        instead(Flushes, "when_durable", answers_before_the_disk),
        "NotConverged",
    ),
    Planted(
        "readers see what is not safe yet",
        "produce_consume",
        instead(reading.Reader, "bound", shows_up_to(lambda log: log.log_end_offset)),
        "L2",
        seeds=5,
        first=260,
    ),
    Planted(
        "no batch is known to be a duplicate",
        "produce_consume",
        instead(ProducerStates, "check", everything_is_new),
        "L3",
    ),
    Planted(
        "a commit's generation is not checked",
        "groups",
        instead(ClassicGroup, "refuse_commit", commits_of_any_generation),
        "O4",
    ),
    Planted(
        "nobody's commit is checked",
        "groups",
        instead(ClassicGroup, "refuse_commit", commits_of_anybody),
        "O2",
    ),
    Planted(
        "a heartbeat's generation is not checked",
        "groups",
        instead(membership, "_refuse", beats_of_any_generation),
        "O4",
    ),
    Planted(
        "a rebalance begins no generation",
        "groups",
        instead(rebalance, "complete", same_generation),
        "O1",
    ),
    Planted(
        "shares of the last generation are kept",
        "groups",
        instead(membership, "settled", shares_are_kept),
        "O1",
    ),
    Planted("a group has two leaders", "groups", two_leaders, "O1"),
    Planted(
        "heartbeats do not keep a session alive",
        "groups",
        sessions_do_not_begin_anew,
        "NotConverged",
    ),
    Planted("sessions never end", "groups", sessions_do_not_end, "O", seeds=40),
    Planted(
        "a static member's former self is believed",
        "groups",
        instead(ClassicGroup, "refuse_commit", former_instances_are_believed),
        "O",
    ),
    Planted(
        "a commit right behind another is dropped",
        "groups",
        instead(Stored, "_put", newest_offset_is_the_lowest),
        "O2",
    ),
    Planted(
        "only the first partition gets the marker",
        "transactions",
        instead(Markers, "_send", first_marker_only),
        "T9",
    ),
    Planted(
        "all but the first partition are aborted",
        "transactions",
        instead(Markers, "_send", markers_of_another_kind),
        "T2",
    ),
    Planted(
        "readers of committed data see up to the high watermark",
        "transactions",
        instead(reading.Reader, "bound", shows_up_to(lambda log: log.high_watermark)),
        "T1",
    ),
    Planted(
        "readers are not told what was aborted",
        "transactions",
        instead(reading, "_aborted", nobody_was_aborted),
        "T1",
    ),
    Planted(
        "no batch of a transaction is known to be a duplicate",
        "transactions",
        instead(ProducerStates, "check", everything_is_new),
        "T4",
    ),
    Planted(
        "who takes over is given the same epoch",
        "transactions",
        instead(TransactionCoordinator, "_begin", epoch_stays_for_who_takes_over),
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
    ),
    Planted(
        "an abort of another's transaction keeps the epoch",
        "transactions",
        instead(Transaction, "fenced", epoch_stays_when_fenced),
        "NotConverged",
    ),
    Planted(
        "a fenced producer may add partitions",
        "transactions",
        instead(machine, "_stranger", strangers_may_add),
        "T1",
        seeds=60,
    ),
    Planted(
        "offsets hold before the marker",
        "transactions",
        instead(Stored, "replay", pending_offsets_hold_at_once),
        "T6",
    ),
    Planted(
        "offsets of aborted transactions hold",
        "transactions",
        instead(Stored, "replay_end", aborted_offsets_hold),
        "T6",
    ),
    Planted(
        "offsets of some committed transactions are dropped",
        "transactions",
        instead(Stored, "replay_end", committed_offsets_are_dropped),
        "T6",
    ),
    Planted(
        "decided ends are forgotten at a restart",
        "transactions",
        instead(TransactionCoordinator, "loaded", ends_are_forgotten_at_a_restart),
        "NotConverged",
    ),
    Planted(
        "no transaction is too old",
        "transactions",
        instead(TransactionCoordinator, "on_timer", nothing_is_too_old),
        "T9",
    ),
)

MISSED = (
    Planted(
        "coordinators answer before the log is safe",
        "groups",
        instead(Coordinators, "_hold", answers_before_they_are_safe),
        "O2",
    ),
)
"""Not caught; the document says for how long it was tried."""
