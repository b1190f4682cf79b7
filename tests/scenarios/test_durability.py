"""The textbook's table: which acks and min.insync.replicas keep a record when the leader dies just after its answer.

A leader with a real log, and followers that copy it through Fetch, as late as they are allowed to: only while a
producer waits for them. Then the leader dies with all it has, and who was in sync takes over with what it had copied.

acks   min.insync   in sync     answer     the record, when the leader has died
0      1, 2         all three   none       lost
1      1, 2         all three   yes        lost
all    1, 2         all three   yes        kept, even when a second one dies
all    1, 2         two         yes        kept
all    1            leader      yes        gone with its only holder
all    2            leader      refused    nothing was promised
1      2            leader      yes        gone with its only holder
all    3            two         refused    nothing was promised
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from tests.broker.desk import Desk, code_of, one_of, values_of
from tests.broker.storehouse import NODE, Storehouse, batch_of, tell

from quire.errors import ErrorCode

BROKER_EPOCH = 9
ALL = -1
VALUE = b"promised"


@dataclass
class Follower:
    """A replica on another broker: what it has copied so far."""

    node: int
    desk: Desk
    topic_id: bytes
    log: list[bytes | None] = field(default_factory=list)

    async def copy(self) -> None:
        """Fetch what is new, and say with the next fetch that it is there."""
        for _ in range(2):
            found = await self.desk.fetch(
                self.topic_id, len(self.log), follower=(self.node, BROKER_EPOCH),
                current_leader_epoch=0,
            )  # fmt: skip
            assert code_of(found) is ErrorCode.NONE
            self.log += [value for _, value in values_of(found)]


@dataclass
class Outcome:
    """What the producer was told, and what is left of the record."""

    answer: ErrorCode | None
    waited_for: int
    survivors: int
    """How many of those who may take over have it."""
    candidates: int

    @property
    def is_kept(self) -> bool:
        """Whoever takes over has it."""
        return 0 < self.candidates == self.survivors


def produced(acks: int, min_insync: int, in_sync: tuple[int, ...]) -> Outcome:
    """Produce one record, and let the leader die as soon as the producer was answered."""
    outcomes: list[Outcome] = []

    async def story(house: Storehouse) -> None:
        topic_id = await house.topic(
            "orders", replicas=(NODE, 2, 3), isr=in_sync, min_insync_replicas=str(min_insync)
        )
        desk = await Desk.open(house)
        followers = [
            Follower(node, await desk.another(), topic_id) for node in in_sync if node != NODE
        ]
        desk.send_batch("orders", batch_of(1, value=VALUE), acks=acks, timeout_ms=30_000)
        waited_for = 0
        await asyncio.sleep(1)
        for follower in followers:
            if acks == 0 or not desk.caller.answers.empty():
                break
            waited_for += 1
            await follower.copy()
            await asyncio.sleep(1)
        answer = None if acks == 0 else code_of(one_of(await desk.caller.answer()))
        survivors = sum(VALUE in one.log for one in followers)
        outcomes.append(Outcome(answer, waited_for, survivors, len(followers)))

    tell(story)
    return outcomes[0]


THREE, TWO, ALONE = (NODE, 2, 3), (NODE, 2), (NODE,)


@pytest.mark.parametrize("min_insync", [1, 2])
@pytest.mark.parametrize("acks", [0, 1])
def test_without_acks_all_what_was_answered_is_lost_with_the_leader(
    acks: int, min_insync: int
) -> None:
    found = produced(acks, min_insync, THREE)
    assert found.answer is (None if acks == 0 else ErrorCode.NONE)
    assert (found.waited_for, found.survivors, found.is_kept) == (0, 0, False)


@pytest.mark.parametrize("min_insync", [1, 2, 3])
def test_acks_all_is_answered_when_everybody_in_sync_has_it(min_insync: int) -> None:
    found = produced(ALL, min_insync, THREE)
    assert found.answer is ErrorCode.NONE
    assert (found.waited_for, found.survivors) == (2, 2), "a second death does no harm either"
    assert found.is_kept


@pytest.mark.parametrize("min_insync", [1, 2])
def test_with_two_in_sync_acks_all_is_kept_by_the_other_one(min_insync: int) -> None:
    found = produced(ALL, min_insync, TWO)
    assert (found.answer, found.waited_for, found.is_kept) == (ErrorCode.NONE, 1, True)


def test_acks_all_alone_is_a_promise_of_one_disk() -> None:
    found = produced(ALL, 1, ALONE)
    assert (found.answer, found.candidates, found.is_kept) == (ErrorCode.NONE, 0, False)


@pytest.mark.parametrize(("min_insync", "in_sync"), [(2, ALONE), (3, TWO), (3, ALONE)])
def test_below_min_insync_acks_all_is_refused_and_promises_nothing(
    min_insync: int, in_sync: tuple[int, ...]
) -> None:
    found = produced(ALL, min_insync, in_sync)
    assert found.answer is ErrorCode.NOT_ENOUGH_REPLICAS
    assert found.survivors == 0


def test_min_insync_is_no_matter_of_acks_1() -> None:
    found = produced(1, 2, ALONE)
    assert (found.answer, found.is_kept) == (ErrorCode.NONE, False)
