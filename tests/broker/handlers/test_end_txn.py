from __future__ import annotations

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.errors import ErrorCode
from quire.transactions.transaction import ProducerId


@pytest.mark.parametrize("version", range(5))
def test_older_producers_keep_their_epoch_and_may_repeat_themselves(version: int) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        await desk.add("t", me, ("orders", 0))
        for _ in range(2):
            code, _ = await desk.end("t", me, version=version)
            assert code is ErrorCode.NONE
            await desk.settle()
        assert (await desk.add("t", me, ("orders", 0))) == [ErrorCode.NONE]

    tell(story)


def test_newer_producers_are_told_as_whom_they_go_on() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        for epoch in range(1, 4):
            assert await desk.produce("t", me) is ErrorCode.NONE
            code, goes_on = await desk.end("t", me, committed=epoch != 2)
            assert (code, goes_on) == (ErrorCode.NONE, ProducerId(me.producer_id, epoch))
            await desk.settle()
            repeated = await desk.end("t", me, committed=epoch != 2)
            assert repeated == (ErrorCode.NONE, goes_on)
            me = goes_on
        assert await desk.end("t", me, committed=False) == (
            ErrorCode.NONE,
            ProducerId(me.producer_id, 4),
        )

    tell(story)


@pytest.mark.parametrize(
    ("version", "code"), [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (5, ErrorCode.PRODUCER_FENCED)]
)
def test_the_fenced_end_nothing(version: int, code: ErrorCode) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        old = await desk.begin()
        await desk.begin()
        assert await desk.end("t", old, version=version) == (code, ProducerId(-1, -1))

    tell(story)


def test_what_cannot_end_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert (await desk.end("t", me))[0] is ErrorCode.INVALID_TXN_STATE
        assert (await desk.end("", me))[0] is ErrorCode.INVALID_REQUEST
        unknown = await desk.end("nobody", me)
        assert unknown[0] is ErrorCode.INVALID_PRODUCER_ID_MAPPING

    tell(story)
