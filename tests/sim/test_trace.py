from __future__ import annotations

import asyncio

from quire.sim.loop import run
from quire.sim.trace import KEPT_LINES, Trace, TraceJournal


def played(last: str) -> Trace:
    async def scene() -> Trace:
        trace = Trace(asyncio.get_running_loop())
        journal = TraceJournal(trace, "b1")
        await asyncio.sleep(1.5)
        journal.say("raft", "__cluster_metadata-0", "leads", epoch=3)
        trace.add("b1", "life", "", last)
        return trace

    return run(scene)  # type: ignore[no-any-return]


def test_a_line_says_when_who_where_and_what() -> None:
    first, _ = played("dies").lines
    assert first.split() == ["1.500", "b1", "raft", "__cluster_metadata-0", "leads", "epoch=3"]


def test_the_digest_is_the_fingerprint_of_all_lines() -> None:
    assert played("dies").digest() == played("dies").digest()
    assert played("dies").digest() != played("lives").digest()


def test_only_the_last_lines_are_kept_but_all_count() -> None:
    async def scene() -> Trace:
        trace = Trace(asyncio.get_running_loop())
        for number in range(2 * KEPT_LINES):
            trace.add("b1", "life", str(number), "goes on")
        return trace

    trace = run(scene)
    assert len(trace.lines) == KEPT_LINES
    assert str(2 * KEPT_LINES - 1) in trace.lines[-1]


def test_what_each_room_says_is_counted() -> None:
    async def scene() -> dict[tuple[str, str], int]:
        trace = Trace(asyncio.get_running_loop())
        for number in range(3):
            trace.add("b1", "room", "", "speaks", number=number)
        trace.add("b1", "other", "", "speaks")
        return trace.counts

    assert run(scene) == {("room", "speaks"): 3, ("other", "speaks"): 1}
