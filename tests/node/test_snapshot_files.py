"""The files of snapshots: complete or not there, known only when they are, and tidied after a crash."""

from __future__ import annotations

from tests.node.scene import make_directory, on_machine, with_world

from quire.node.snapshot_files import SnapshotFiles
from quire.node.world import World
from quire.raft.snapshots import BOOTSTRAP, SnapshotId, build
from quire.sim.machine import Machine

PLACE = "/logs"


def opened(world: World) -> SnapshotFiles:
    make_directory(world.disk, PLACE)
    return SnapshotFiles.open(world.disk, PLACE)


def content(*values: bytes) -> list[bytearray]:
    return list(build(values, epoch=1, last_contained_log_timestamp=5, now_ms=6))


def test_what_was_written_survives_a_loss_of_power_whole() -> None:
    async def main(machine: Machine) -> None:
        files = opened(machine.boot())
        for which in (SnapshotId(20, 1), SnapshotId(3, 1)):
            files.write(which, content(b"value"))
        assert files.known == (), "nobody has said so yet"
        files.add(SnapshotId(20, 1))
        files.add(SnapshotId(3, 1))
        assert files.known == (SnapshotId(3, 1), SnapshotId(20, 1))
        machine.lose_power()
        again = opened(machine.boot())
        assert again.known == files.known
        assert again.newest == SnapshotId(20, 1)
        snapshot = again.read(SnapshotId(20, 1))
        assert (snapshot.values, snapshot.last_contained_log_timestamp) == ([b"value"], 5)

    on_machine(main)


def test_what_formatting_left_holds_no_records_and_is_not_the_newest() -> None:
    async def main(world: World) -> None:
        files = opened(world)
        files.write(BOOTSTRAP, content())
        files.add(BOOTSTRAP)
        assert (files.known, files.newest) == ((BOOTSTRAP,), None)

    with_world(main)


def test_what_an_interrupted_writing_or_removal_left_is_tidied_and_the_rest_is_not() -> None:
    async def main(world: World) -> None:
        files = opened(world)
        files.write(SnapshotId(3, 1), content())
        name = SnapshotId(9, 1).file_name
        others = ["quorum-state", "00000000000000000000.log", "7-1.checkpoint"]
        for one in (f"{name}.part", f"{name}.deleted", *others):
            world.disk.open(f"{PLACE}/{one}", create=True).close()
        assert opened(world).known == (SnapshotId(3, 1),)
        assert sorted(world.disk.list(PLACE)) == sorted([SnapshotId(3, 1).file_name, *others])

    with_world(main)


def test_writing_one_again_replaces_what_half_a_writing_left() -> None:
    async def main(world: World) -> None:
        files = opened(world)
        which = SnapshotId(3, 1)
        part = world.disk.open(f"{PLACE}/{which.file_name}.part", create=True)
        part.write(0, [b"x" * 10_000])
        part.close()
        files.write(which, content(b"a"))
        assert files.read(which).values == [b"a"]
        assert files.size_of(which) == sum(map(len, content(b"a")))

    with_world(main)


def test_what_is_deleted_is_forgotten_when_that_is_done() -> None:
    async def main(world: World) -> None:
        files = opened(world)
        for offset in (1, 2, 3):
            files.write(SnapshotId(offset, 1), content())
            files.add(SnapshotId(offset, 1))
        gone = [SnapshotId(1, 1), SnapshotId(2, 1)]
        files.delete(gone)
        assert len(files.known) == 3
        files.forget(gone)
        assert files.known == (SnapshotId(3, 1),)
        assert world.disk.list(PLACE) == [SnapshotId(3, 1).file_name]
        now_ms = world.clock.wall_ms()
        assert abs(files.modified_ms_of(SnapshotId(3, 1)) - now_ms) < 10_000

    with_world(main)
