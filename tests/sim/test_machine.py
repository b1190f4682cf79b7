"""One machine through several lives: what a process can still do, and what the next one finds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.node.scene import on_machine
from tests.ports.conversations import Ear

from quire.node.world import World
from quire.ports.network import Address
from quire.sim.disk import SimulatedCrash
from quire.sim.machine import Machine


def write(world: World, name: str, content: bytes, *, flush: bool) -> None:
    file = world.disk.open(f"/d/{name}", create=True)
    file.write(0, [content])
    if flush:
        file.flush()
        world.disk.flush_directory("/d")
    file.close()


def content(world: World, name: str) -> bytes | None:
    if not world.disk.exists(f"/d/{name}"):
        return None
    return world.disk.open(f"/d/{name}").read(0, 100)


def made(world: World) -> None:
    world.disk.make_directory("/d")
    world.disk.flush_directory("/")


def test_a_killed_process_leaves_what_it_wrote_and_lost_power_what_was_flushed() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        made(world)
        write(world, "flushed", b"1", flush=True)
        write(world, "not", b"2", flush=False)
        machine.kill()
        again = machine.boot()
        assert (content(again, "flushed"), content(again, "not")) == (b"1", b"2")
        write(again, "late", b"3" * 50, flush=False)
        machine.lose_power()
        last = machine.boot()
        assert content(last, "flushed") == b"1"
        assert content(last, "late") in (None, b"", b"3" * 50) or set(
            content(last, "late") or b""
        ) <= set(b"3\0")

    for seed in range(10):
        on_machine(main, seed=seed)


def test_some_loss_of_power_takes_what_was_not_flushed() -> None:
    async def main(machine: Machine) -> bytes | None:
        world = machine.boot()
        made(world)
        write(world, "not", b"2", flush=False)
        machine.lose_power()
        return content(machine.boot(), "not")

    found = {on_machine(main, seed=seed) for seed in range(20)}
    assert None in found
    assert len(found) > 1, "and some does not"


def test_a_dead_process_reaches_its_disk_no_more() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        made(world)
        machine.kill()
        with pytest.raises(SimulatedCrash):
            write(world, "ghost", b"x", flush=True)
        assert content(machine.boot(), "ghost") is None

    on_machine(main)


def test_background_work_of_a_dead_process_is_never_done() -> None:
    async def main(machine: Machine) -> None:
        done: list[int] = []
        world = machine.boot()
        world.background.run(lambda: done.append(1))
        machine.kill()
        after = machine.boot()
        after.background.run(lambda: done.append(2))
        await asyncio.sleep(10)
        assert done == [2]

    on_machine(main)


def test_listeners_and_streams_go_with_their_process() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        heard: list[Ear] = []

        def accept(stream: Any) -> Ear:
            heard.append(Ear(stream))
            return heard[-1]

        address = Address("b1", 9092)
        world.network.listen(address, accept)
        client = machine._network.machine("client")
        ears: list[Ear] = []

        def own(stream: Any) -> Ear:
            ears.append(Ear(stream))
            return ears[-1]

        await client.connect(address, own)
        await asyncio.sleep(1)
        machine.kill()
        with pytest.raises(OSError):
            await client.connect(address, own)
        ears[0].stream.send([b"to whom?"])
        await asyncio.sleep(1)
        assert bytes(heard[0].heard) == b""
        machine.boot().network.listen(address, accept)

    on_machine(main)


def test_a_strike_in_background_work_is_told_and_ends_the_process() -> None:
    async def main(machine: Machine) -> None:
        deaths: list[SimulatedCrash] = []
        machine.on_death = deaths.append
        world = machine.boot()
        made(world)
        machine.disk.faults.fail_after(operations=1)
        world.background.run(lambda: write(world, "cut", b"x", flush=True))
        await asyncio.sleep(1)
        assert len(deaths) == 1
        assert any("struck in the middle" in line for line in machine._trace.lines)
        machine.kill()
        write(machine.boot(), "next", b"y", flush=True)

    on_machine(main)


def test_a_full_disk_takes_so_much_more_and_no_more_until_there_is_room() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        made(world)
        machine.fill_disk(100)
        assert machine.is_short_of_room
        write(world, "fits", b"x" * 100, flush=True)
        with pytest.raises(OSError):
            write(world, "does not", b"x", flush=True)
        machine.lose_power()
        assert machine.is_short_of_room, "it is the machine's, not the process's"
        machine.empty_disk()
        assert not machine.is_short_of_room
        write(machine.boot(), "fits now", b"x" * 1000, flush=True)

    on_machine(main)


def test_the_same_seed_draws_the_same_lives() -> None:
    async def main(machine: Machine) -> list[bytes]:
        drawn = []
        for _ in range(3):
            drawn.append(machine.boot().entropy.bytes(8))
            machine.kill()
        return drawn

    def lives(seed: int, work: Callable[[Machine], Awaitable[list[bytes]]] = main) -> Any:
        return on_machine(work, seed=seed)

    assert lives(1) == lives(1)
    assert lives(1) != lives(2)
    assert len(set(lives(1))) == 3, "and no life is the last one again"
