"""A supervised node: it comes back after every end, and what keeps it from that is heard."""

from __future__ import annotations

import asyncio

import pytest
from tests.sim.scene import Scene, living

from quire.errors import StorageError
from quire.ports.network import Address


def test_a_killed_node_is_started_again_and_answers() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        first = scene.life.node
        scene.life.kill(loses_power=False)
        await asyncio.sleep(0.1)
        assert scene.life.node is None
        await scene.until_serving()
        assert scene.life.node is not first
        assert (scene.life.starts, scene.life.deaths, scene.life.power_losses) == (2, 1, 0)
        assert scene.history.generation == 0

    living(main)


def test_a_loss_of_power_begins_a_new_generation() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        for number in range(1, 4):
            scene.life.kill(loses_power=True)
            await asyncio.sleep(0.1)
            await scene.until_serving()
            assert (scene.history.generation, scene.life.power_losses) == (number, number)

    living(main)


def test_a_kill_in_the_middle_of_a_start_is_survived() -> None:
    for after_ms in range(0, 60, 7):

        async def main(scene: Scene, after_ms: int = after_ms) -> None:
            await asyncio.sleep(after_ms / 1000)
            scene.life.kill(loses_power=True)
            await asyncio.sleep(0.1)
            await scene.until_serving()
            assert scene.life.starts == 2

        living(main, seed=after_ms)


@pytest.mark.parametrize("loses_power", [False, True])
def test_a_strike_in_the_middle_of_an_operation_is_survived(*, loses_power: bool) -> None:
    for operations in (0, 1, 5, 23):

        async def main(scene: Scene, operations: int = operations) -> None:
            await scene.until_serving()
            scene.life.strike(after_operations=operations, loses_power=loses_power)
            await asyncio.sleep(30)
            assert scene.life.starts == 2
            await scene.until_serving()
            assert scene.life.power_losses == int(loses_power)

        living(main, seed=operations)


def test_a_clean_restart_is_no_death() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        await scene.life.restart_cleanly()
        await scene.until_serving()
        assert (scene.life.starts, scene.life.deaths) == (2, 0)
        assert any("has stopped" in line for line in scene.trace.lines)

    living(main)


def test_a_kill_in_the_middle_of_a_clean_stop_is_a_death() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        stopping = asyncio.ensure_future(scene.life.restart_cleanly())
        await asyncio.sleep(0.002)
        scene.life.kill(loses_power=True)
        await stopping
        await asyncio.sleep(0.1)
        await scene.until_serving()
        assert scene.life.deaths == scene.life.power_losses == 1

    living(main)


def test_a_node_that_fails_while_it_stops_is_buried_and_nobody_waits_for_it() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        scene.life.strike(after_operations=0, loses_power=False)
        async with asyncio.timeout(20):
            await scene.life.restart_cleanly()
        await asyncio.sleep(0.1)
        await scene.until_serving()
        assert (scene.life.starts, scene.life.deaths) == (2, 1)

    for seed in range(8):
        living(main, seed=seed)


def test_after_its_end_nobody_starts_it_again() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        await scene.life.end()
        await scene.running
        starts = scene.life.starts
        await asyncio.sleep(60)
        assert (scene.life.starts, scene.life.node) == (starts, None)

    living(main)


def test_an_end_in_the_middle_of_a_start_is_one_too() -> None:
    async def main(scene: Scene) -> None:
        await asyncio.sleep(0.02)
        assert scene.life.node is None
        await scene.life.end()
        async with asyncio.timeout(30):
            await scene.running
        assert (scene.life.starts, scene.life.deaths, scene.life.node) == (1, 0, None)

    living(main)


def test_for_want_of_room_it_may_fail_to_start_until_there_is_some() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        scene.machine.fill_disk(0)
        scene.life.kill(loses_power=False)
        await asyncio.sleep(5)
        assert any("could not start" in line for line in scene.trace.lines)
        scene.machine.empty_disk()
        await scene.until_serving()

    living(main)


def test_a_directory_that_cannot_be_opened_breaks_the_run() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        scene.life.kill(loses_power=False)
        await asyncio.sleep(0.1)
        scene.machine.disk.remove("/logs/a/meta.properties")
        async with asyncio.timeout(60):
            await scene.running

    with pytest.raises(StorageError, match=r"meta\.properties|format"):
        living(main)


def test_a_paused_node_answers_nobody_and_goes_on_where_it_was() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        async with scene.cluster() as cluster:
            scene.life.pause()
            asking = asyncio.ensure_future(cluster.refresh(()))
            knocking = asyncio.ensure_future(scene.until_serving())
            await asyncio.sleep(7)
            assert not asking.done()
            assert not knocking.done()
            scene.life.resume()
            assert (await asking).brokers
            await knocking
        assert (scene.life.starts, scene.life.deaths) == (1, 0)

    living(main)


@pytest.mark.parametrize("loses_power", [False, True])
def test_a_paused_node_can_be_killed(*, loses_power: bool) -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        scene.life.pause()
        await asyncio.sleep(3)
        scene.life.kill(loses_power=loses_power)
        scene.life.resume()
        await asyncio.sleep(0.1)
        await scene.until_serving()
        assert (scene.life.starts, scene.life.deaths) == (2, 1)

    living(main)


def test_clients_find_it_where_its_listeners_are() -> None:
    async def main(scene: Scene) -> None:
        assert scene.life.address() == Address("b1", 9092)
        assert scene.life.address("CONTROLLER") == Address("b1", 9093)
        await scene.until_serving()

    living(main)
