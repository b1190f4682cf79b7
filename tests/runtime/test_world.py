from __future__ import annotations

import asyncio
import threading

from quire.runtime.world import host_name, real_world
from quire.storage.log_dirs import run_in_turn


def test_a_world_has_every_door_and_leaves_no_thread() -> None:
    async def main() -> None:
        before = threading.active_count()
        with real_world({"socket.send.buffer.bytes": "4096"}) as world:
            assert await world.background.run(lambda: 5) == 5
            assert world.clock.wall_ms() > 1_600_000_000_000
            assert len(world.entropy.bytes(3)) == 3
            assert world.host_name == host_name() != ""
            world.journal.say("node", "", "nobody reads this")
            loads = world.run_each(2)
            assert loads is not run_in_turn
            assert threading.active_count() > before
        assert threading.active_count() == before

    asyncio.run(main())
