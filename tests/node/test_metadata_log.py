"""node.metadata_log: batches in, batches out, across stops and crashes; and the log that Apache Kafka wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.metadata.golden_log import ONE_NODE, THREE_NODES, batches
from tests.node.scene import bring, make_directory, on_machine, with_world

from quire.errors import StorageError
from quire.metadata.features import default_levels
from quire.metadata.records import MetadataRecord, encode_value
from quire.metadata.snapshot import image_of, snapshot_records
from quire.node.metadata_log import MetadataLog, epoch_start
from quire.node.world import World
from quire.protocol.messages.metadata_records import ConfigRecord, FeatureLevelRecord, NoOpRecord
from quire.raft.quorum_state import QuorumState, encode
from quire.raft.snapshots import BOOTSTRAP, Controls, SnapshotId, build
from quire.raft.voters import Voter, VoterEndpoint, VoterSet
from quire.sim.machine import Machine
from quire.storage.flush import FlushPlan
from quire.storage.partition_metadata import write_topic_id
from quire.storage.settings import LogSettings

PARENT = "/logs"
VOTERS = VoterSet([Voter(1, b"d" * 16, (VoterEndpoint("CONTROLLER", "localhost", 9093),))])


def opened(world: World, **settings: int) -> MetadataLog:
    make_directory(world.disk, PARENT)
    return MetadataLog.open(world, PARENT, LogSettings(**settings))  # type: ignore[arg-type]


def no_op() -> MetadataRecord:
    return MetadataRecord(NoOpRecord(), 0)


def setting(name: str, value: str) -> MetadataRecord:
    return MetadataRecord(
        ConfigRecord(resource_type=4, resource_name="", name=name, value=value), 0
    )


def test_what_was_appended_is_read_decoded_and_again_after_a_clean_stop() -> None:
    async def main(world: World) -> None:
        log = opened(world)
        assert (log.end_offset, log.last_epoch) == (0, 0)
        values = epoch_start(1, [1], [1], Controls(1, VOTERS))
        first = log.append_controls(values, Controls(1, VOTERS), epoch=3)
        second = log.append([setting("a", "1"), setting("b", "2")], epoch=3)
        assert (first.base_offset, first.last_offset, first.messages) == (0, 2, ())
        assert (second.base_offset, second.last_offset) == (3, 4)
        kept = list(log.batches(0, 5))
        assert [one.messages for one in kept] == [(), second.messages]
        log.taken(5)
        assert list(log.batches(0, 5)) == kept, "from the disk the same as from memory"
        assert list(log.batches(3, 5)) == kept[1:]
        log.close()
        again = opened(world)
        assert list(again.batches(0, 5)) == kept
        assert again.controls() == Controls(1, VOTERS)
        assert again.last_epoch == 3

    with_world(main)


def test_a_log_larger_than_one_read_comes_whole() -> None:
    async def main(world: World) -> None:
        log = opened(world)
        for number in range(30):
            log.append([setting(f"{number}", "x" * 100_000)], epoch=1)
        log.close()
        again = opened(world)
        found = [one.messages[0].name for one in again.batches(0, again.end_offset)]
        assert found == [str(number) for number in range(30)]

    with_world(main)


def test_a_loss_of_power_takes_what_was_not_flushed_and_no_more() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        log = opened(world)
        log.append([no_op()], epoch=1)
        plan = log.begin_flush()
        log.append([no_op(), no_op()], epoch=1)
        plan.run()
        log.finish_flush(plan)
        assert log.end_offset == 3
        machine.lose_power()
        after = opened(machine.boot())
        assert after.end_offset in (1, 3)
        assert after.last_epoch == 1
        assert next(len(one.messages) for one in after.batches(0, after.end_offset)) == 1

    for seed in range(20):
        on_machine(main, seed=seed)


def test_snapshots_are_found_used_and_removed() -> None:
    async def main(machine: Machine) -> None:
        world = machine.boot()
        log = opened(world, segment_bytes=4096)
        levels = [FeatureLevelRecord(name=n, feature_level=v) for n, v in default_levels().items()]
        image = image_of(levels, offset=99, quorum_epoch=2)
        values = [encode_value(record) for record in snapshot_records(image)]
        for _ in range(100):
            log.append([no_op()], epoch=2)
        log.finish_flush(_run(log))
        which = SnapshotId(100, 2)
        content = list(
            build(
                values,
                epoch=2,
                last_contained_log_timestamp=7,
                now_ms=8,
                controls=Controls(1, VOTERS),
            )
        )
        log.snapshots.write(which, content)
        log.snapshots.add(which)
        assert log.latest_snapshot == which
        log.append([no_op()], epoch=2)
        log.remove_below(100, high_watermark=101)
        assert log.log.log_start_offset == 100
        log.close()
        again = opened(machine.boot(), segment_bytes=4096)
        assert (again.latest_snapshot, again.end_offset, again.last_epoch) == (which, 101, 2)
        assert 0 < again.log.log_start_offset <= 100, "segments below the snapshot are gone"
        assert again.controls() == Controls(1, VOTERS)
        snapshot = again.snapshots.read(which)
        assert (snapshot.values, snapshot.last_contained_log_timestamp) == (values, 7)
        again.snapshots.delete([which])
        again.snapshots.forget([which])
        assert which.file_name not in world.disk.list(again.directory)
        assert again.latest_snapshot is None

    on_machine(main)


def test_a_snapshot_from_elsewhere_beyond_the_log_begins_the_log_anew() -> None:
    async def main(world: World) -> None:
        log = opened(world)
        log.append([no_op()], epoch=1)
        content = list(build([], epoch=4, last_contained_log_timestamp=7, now_ms=8))
        log.snapshots.write(SnapshotId(50, 4), content)
        log.close()
        again = opened(world)
        assert (again.log.log_start_offset, again.end_offset, again.last_epoch) == (50, 50, 4)

    with_world(main)


def test_half_a_snapshot_is_removed_and_another_topics_log_refused() -> None:
    async def main(world: World) -> None:
        log = opened(world)
        log.close()
        world.disk.open(
            f"{log.directory}/00000000000000000005-0000000001.checkpoint.part", create=True
        )
        assert not any(name.endswith(".part") for name in world.disk.list(opened(world).directory))
        write_topic_id(world.disk, log.directory, b"t" * 16)
        with pytest.raises(StorageError, match="topic id"):
            opened(world)

    with_world(main)


def test_votes_are_remembered_and_a_broken_file_counts_as_none() -> None:
    async def main(machine: Machine) -> None:
        log = opened(machine.boot())
        assert log.read_quorum_state() == QuorumState()
        state = QuorumState(5, -1, 1, b"d" * 16)
        log.write_quorum_state(encode(state, kraft_version=1))
        machine.lose_power()
        after = opened(machine.boot())
        assert after.read_quorum_state() == state
        after.write_quorum_state(b"{")
        assert after.read_quorum_state() == QuorumState()

    on_machine(main)


@pytest.mark.parametrize("source", [ONE_NODE, THREE_NODES])
def test_the_log_that_kafka_wrote_is_read_record_for_record(source: Path) -> None:
    async def main(world: World) -> None:
        bring(world.disk, source, f"{PARENT}/__cluster_metadata-0")
        log = opened(world)
        assert source == THREE_NODES or BOOTSTRAP in log.snapshots.known
        expected = batches(source / "00000000000000000000.log")
        found = [one for one in log.batches(0, log.end_offset) if one.messages]
        assert [list(one.messages) for one in found] == [
            [record.message for record in one.records] for one in expected
        ]
        controls = log.controls()
        assert controls.kraft_version == 1
        assert controls.voters is not None
        assert controls.voters.ids == ((1,) if source == ONE_NODE else (1, 2, 3))

    with_world(main)


def _run(log: MetadataLog) -> FlushPlan:
    plan = log.begin_flush()
    plan.run()
    return plan
