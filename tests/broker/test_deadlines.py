from __future__ import annotations

import asyncio

from quire.broker.deadlines import Deadlines
from quire.broker.purgatory import Purgatory
from quire.sim import loop as virtual
from quire.sim.clock import LoopClock


class Waiting:
    def __init__(self, clock: LoopClock) -> None:
        self.clock = clock
        self.expired_ms = -1
        self.is_ready = False

    def try_complete(self) -> bool:
        return self.is_ready

    def expire(self) -> None:
        self.expired_ms = self.clock.monotonic_ms()


def test_everything_expires_at_its_time_in_whatever_order_it_came() -> None:
    async def story() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        purgatories = [Purgatory(), Purgatory()]
        early = Waiting(clock)
        purgatories[0].watch(early, ["k"], deadline_ms=700)
        deadlines = Deadlines(purgatories, clock)
        waits = []
        for number, deadline in enumerate((500, 90, 10_000, 300, 91, 0)):
            one = Waiting(clock)
            purgatories[number % 2].watch(one, ["k"], deadline_ms=deadline)
            waits.append((deadline, one))
        await asyncio.sleep(11)
        for deadline, one in [*waits, (700, early)]:
            assert deadline <= one.expired_ms <= deadline + 2
        deadlines.stop()

    virtual.run(story)


def test_what_completes_is_not_expired_and_nothing_is_left_to_wake_for() -> None:
    async def story() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        purgatory = Purgatory()
        Deadlines([purgatory], clock)
        one = Waiting(clock)
        purgatory.watch(one, ["k"], deadline_ms=1000)
        await asyncio.sleep(0.1)
        one.is_ready = True
        assert purgatory.changed("k") == 1
        await asyncio.sleep(5)
        assert one.expired_ms == -1
        assert purgatory.next_deadline_ms() is None

    virtual.run(story)


def test_after_a_stop_nothing_expires() -> None:
    async def story() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        purgatory = Purgatory()
        deadlines = Deadlines([purgatory], clock)
        one = Waiting(clock)
        purgatory.watch(one, ["k"], deadline_ms=1000)
        deadlines.stop()
        await asyncio.sleep(5)
        assert one.expired_ms == -1

    virtual.run(story)
