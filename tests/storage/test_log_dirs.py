"""All log directories, with real logs on a simulated disk."""

from __future__ import annotations

import contextlib
import random
import shutil
from pathlib import Path

import pytest

from quire.errors import StorageError
from quire.records.batch import Record, decode_batch, encode_batch
from quire.runtime.disk import RealDisk
from quire.runtime.threads import GroupThreads
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.storage.checkpoints import (
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
    read_offsets,
)
from quire.storage.clean_shutdown import read_clean_shutdown
from quire.storage.log import Log
from quire.storage.log_dir import LogToOpen
from quire.storage.log_dirs import LogDirs, remove_tree
from quire.storage.lookup import ReadResult
from quire.storage.meta_properties import (
    MetaProperties,
    is_reserved,
    read_meta_properties,
    write_meta_properties,
)
from quire.storage.partition_metadata import write_topic_id
from quire.storage.settings import LogSettings
from quire.storage.small_files import replace_file
from quire.types import TopicPartition

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean"
NOW_MS = 1_795_030_000_000
TOPIC_ID = b"topic id number1"
ORDERS = [TopicPartition("orders", number) for number in range(4)]


class Machine:
    """A node's disk with formatted directories, and the logs of its present process."""

    def __init__(self, *paths: str, seed: int = 0) -> None:
        self.disk = SimDisk(seed)
        self.paths = paths or ("/a", "/b")
        self.entropy = SeededEntropy(seed)
        for path in self.paths:
            self.disk.make_directory(path)
            self.disk.flush_directory("/")
            write_meta_properties(self.disk, path, MetaProperties("cluster", 1, None))

    def open_log(self, to_open: LogToOpen) -> Log:
        return Log.open(
            self.disk,
            to_open.directory,
            LogSettings(segment_bytes=400, segment_index_bytes=80),
            now_ms=NOW_MS,
            last_stop=to_open.last_stop,
            draw_below=random.Random(1).randrange,
        )

    def start(self) -> LogDirs:
        dirs = LogDirs.open(self.disk, self.paths, entropy=self.entropy, node_id=1)
        dirs.load(self.open_log)
        return dirs

    def create(self, dirs: LogDirs, key: TopicPartition, records: int = 0) -> Log:
        log = dirs.create(key, TOPIC_ID, self.open_log).log
        assert isinstance(log, Log)
        _fill(log, records)
        return log


def _fill(log: Log, records: int) -> None:
    for _ in range(records):
        number = log.log_end_offset
        batch = encode_batch([Record(0, NOW_MS, None, b"value %d" % number)])
        log.append(batch, leader_epoch=0, now_ms=NOW_MS)


def _values(log: Log) -> list[bytes]:
    values: list[bytes] = []
    while log.log_start_offset + len(values) < log.log_end_offset:
        offset = log.log_start_offset + len(values)
        found = log.read(offset, max_bytes=1, upper_bound_offset=log.log_end_offset)
        assert isinstance(found, ReadResult)
        data = found.records.read()
        values.extend(record.value or b"" for record in decode_batch(data))
    return values


def _log(dirs: LogDirs, key: TopicPartition) -> Log:
    hosted = dirs.get(key)
    assert hosted is not None
    assert isinstance(hosted.log, Log)
    return hosted.log


def test_new_partitions_go_where_there_are_fewest() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        machine.create(dirs, key)
    assert [hosted.directory for hosted in dirs] == [
        "/a/orders-0", "/b/orders-1", "/a/orders-2", "/b/orders-3",
    ]  # fmt: skip
    assert [hosted.topic_partition for hosted in dirs] == ORDERS
    assert dirs.identity == ("cluster", 1)


def test_a_partition_can_be_placed_by_the_id_of_its_directory() -> None:
    machine = Machine()
    dirs = machine.start()
    meta = dirs.log_dirs[1].meta
    assert meta is not None
    hosted = dirs.create(ORDERS[0], TOPIC_ID, machine.open_log, directory_id=meta.directory_id)
    assert hosted.directory == "/b/orders-0"
    with pytest.raises(StorageError, match="there is no log directory with id"):
        dirs.create(ORDERS[1], TOPIC_ID, machine.open_log, directory_id=b"x" * 16)


def test_a_partition_is_made_once_and_its_topic_has_a_legal_name() -> None:
    machine = Machine()
    dirs = machine.start()
    machine.create(dirs, ORDERS[0])
    with pytest.raises(StorageError, match="orders-0 is here already"):
        machine.create(dirs, ORDERS[0])
    with pytest.raises(ValueError, match="not a topic's name"):
        machine.create(dirs, TopicPartition("a/b", 0))


def test_a_clean_stop_brings_everything_back_without_a_scan() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        _fill(machine.create(dirs, key), 20)
    _log(dirs, ORDERS[0]).update_high_watermark(7)
    dirs.close(now_ms=NOW_MS, broker_epoch=11)
    machine.disk = machine.disk.crash()
    dirs = machine.start()
    stops = [log_dir.clean_shutdown for log_dir in dirs.log_dirs]
    assert stops == [(11,), (11,)]
    assert read_clean_shutdown(machine.disk, "/a") is None
    for key in ORDERS:
        assert _values(_log(dirs, key)) == [b"value %d" % number for number in range(20)]
        assert _log(dirs, key).recovery_point == 20
    assert _log(dirs, ORDERS[0]).high_watermark == 7
    assert _log(dirs, ORDERS[1]).high_watermark == 0
    assert all(hosted.topic_id == TOPIC_ID for hosted in dirs)


def test_checkpoints_name_every_log_and_the_raised_starts() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    for key in ORDERS[:2]:
        log = machine.create(dirs, key, records=8)
        log.update_high_watermark(6)
    log.advance_log_start_offset(2, now_ms=NOW_MS)
    log.flush(now_ms=NOW_MS)
    dirs.checkpoint_recovery_points()
    dirs.checkpoint_log_start_offsets()
    dirs.checkpoint_high_watermarks()
    recovered = read_offsets(machine.disk, f"/a/{RECOVERY_POINTS}")
    assert recovered[ORDERS[1]] == 8
    assert recovered[ORDERS[0]] <= 8
    assert read_offsets(machine.disk, f"/a/{LOG_START_OFFSETS}") == {ORDERS[1]: 2}
    assert read_offsets(machine.disk, f"/a/{HIGH_WATERMARKS}") == dict.fromkeys(ORDERS[:2], 6)
    machine.disk = machine.disk.kill()
    dirs = machine.start()
    assert _log(dirs, ORDERS[1]).log_start_offset == 2


def test_wherever_a_stop_is_cut_the_flushed_records_are_there_and_no_promise_is_false() -> None:
    promises = []
    for operations in range(60):
        machine = Machine("/a", seed=operations)
        dirs = machine.start()
        log = machine.create(dirs, ORDERS[0], records=5)
        log.flush(now_ms=NOW_MS)
        _fill(log, 5)
        machine.disk.faults.fail_after(operations=operations)
        with contextlib.suppress(SimulatedCrash):
            dirs.close(now_ms=NOW_MS, broker_epoch=1)
        machine.disk = machine.disk.crash()
        promised = read_clean_shutdown(machine.disk, "/a") is not None
        promises.append(promised)
        found = _values(_log(machine.start(), ORDERS[0]))
        assert found == [b"value %d" % number for number in range(len(found))]
        assert 5 <= len(found) <= 10
        if promised:
            assert len(found) == 10
    assert not promises[0]
    assert promises[-1]


def test_a_creation_cut_anywhere_leaves_a_partition_a_shell_or_nothing() -> None:
    outcomes = set()
    for operations in range(16):
        machine = Machine("/a", seed=operations)
        dirs = machine.start()
        machine.disk.faults.fail_after(operations=operations)
        with contextlib.suppress(SimulatedCrash):
            machine.create(dirs, ORDERS[0])
        machine.disk = machine.disk.crash()
        hosted = machine.start().get(ORDERS[0])
        outcomes.add("nothing" if hosted is None else hosted.topic_id)
    assert {"nothing", TOPIC_ID} <= outcomes <= {"nothing", None, TOPIC_ID}


def test_a_directory_in_use_or_unformatted_or_of_another_node_is_refused() -> None:
    machine = Machine()
    dirs = machine.start()
    with pytest.raises(StorageError, match="/a is in use by another process"):
        machine.start()
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    with pytest.raises(StorageError, match="belongs to node 1, not to 2"):
        LogDirs.open(machine.disk, machine.paths, entropy=machine.entropy, node_id=2)
    assert read_clean_shutdown(machine.disk, "/a") == (1,)
    with pytest.raises(StorageError, match="/c: not formatted"):
        LogDirs.open(machine.disk, ["/a", "/c"], entropy=machine.entropy)
    machine.start()


def test_a_directory_without_an_id_gets_one_for_good() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    meta = read_meta_properties(machine.disk, "/a")
    assert meta is not None
    assert meta.directory_id is not None
    assert not is_reserved(meta.directory_id)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    machine.disk = machine.disk.crash()
    machine.start()
    assert read_meta_properties(machine.disk, "/a") == meta


def test_a_directory_that_fails_goes_offline_alone() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        machine.create(dirs, key)
    machine.disk.faults.break_path("/a")
    dirs.checkpoint_high_watermarks()
    assert [log_dir.path for log_dir in dirs.online] == ["/b"]
    assert dirs.get(ORDERS[0]) is None
    assert [hosted.topic_partition for hosted in dirs] == [ORDERS[1], ORDERS[3]]
    assert machine.create(dirs, ORDERS[0]).directory == "/b/orders-0"
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    machine.disk.faults.heal_path("/a")
    assert read_clean_shutdown(machine.disk, "/a") is None
    assert read_clean_shutdown(machine.disk, "/b") == (1,)


def test_when_every_directory_has_failed_there_is_no_going_on() -> None:
    machine = Machine()
    dirs = machine.start()
    assert dirs.fail(dirs.log_dirs[0], OSError(5, "gone")) == []
    with pytest.raises(StorageError, match=r"no log directory works: /a: .*gone.*; /b: "):
        dirs.fail(dirs.log_dirs[1], OSError(5, "gone too"))
    machine = Machine()
    machine.disk.faults.break_path("/a")
    machine.disk.faults.break_path("/b")
    with pytest.raises(StorageError, match="no log directory works"):
        machine.start()


def test_a_start_with_one_broken_directory_serves_the_other() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        machine.create(dirs, key, records=3)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    machine.disk = machine.disk.kill()
    machine.disk.faults.break_path("/b")
    dirs = machine.start()
    assert [hosted.topic_partition for hosted in dirs] == [ORDERS[0], ORDERS[2]]
    assert "simulated input/output error" in str(dirs.log_dirs[1].failure)


def test_a_directory_that_fails_while_it_is_loaded_is_offline_as_a_whole() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        machine.create(dirs, key)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    machine.disk = machine.disk.kill()
    machine.disk.faults.break_path("/a/orders-2")
    dirs = machine.start()
    assert [hosted.topic_partition for hosted in dirs] == [ORDERS[1], ORDERS[3]]
    assert [log_dir.path for log_dir in dirs.online] == ["/b"]


def test_a_partition_that_cannot_be_opened_is_broken_alone_and_spoils_the_promise() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    for key in ORDERS[:2]:
        machine.create(dirs, key, records=3)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    replace_file(machine.disk, "/a/orders-0/partition.metadata", b"nonsense")
    dirs = machine.start()
    assert [hosted.topic_partition for hosted in dirs] == [ORDERS[1]]
    assert "/a/orders-0/partition.metadata: line 1" in str(dirs.broken[ORDERS[0]])
    with pytest.raises(StorageError, match="here already"):
        machine.create(dirs, ORDERS[0])
    dirs.close(now_ms=NOW_MS, broker_epoch=2)
    assert read_clean_shutdown(machine.disk, "/a") is None


def test_a_log_that_went_offline_spoils_the_promise_of_its_directory() -> None:
    machine = Machine()
    dirs = machine.start()
    log = machine.create(dirs, ORDERS[0], records=3)
    machine.disk.faults.break_path("/a/orders-0")
    with pytest.raises(OSError, match="input/output"):
        log.flush(now_ms=NOW_MS)
    machine.disk.faults.heal_path("/a/orders-0")
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    assert read_clean_shutdown(machine.disk, "/a") is None
    assert read_clean_shutdown(machine.disk, "/b") == (1,)


def test_an_owner_that_did_not_stop_cleanly_gets_no_promise() -> None:
    machine = Machine("/a")
    machine.start().close(now_ms=NOW_MS, broker_epoch=1, is_clean=False)
    assert read_clean_shutdown(machine.disk, "/a") is None


def test_of_a_partition_in_two_directories_the_one_that_the_metadata_names_is_kept() -> None:
    machine = Machine()
    dirs = machine.start()
    machine.create(dirs, ORDERS[0], records=2)
    wanted = next(each for each in dirs.online if ORDERS[0] in each.logs)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    (other,) = (path for path in machine.paths if path != wanted.path)
    machine.disk.make_directory(f"{other}/orders-0")
    again = LogDirs.open(machine.disk, machine.paths, entropy=machine.entropy, node_id=1)
    ids = {each.path: each.meta.directory_id for each in again.online if each.meta is not None}
    again.load(machine.open_log, home=lambda _: ids[wanted.path])
    assert _log(again, ORDERS[0]).log_end_offset == 2
    assert not machine.disk.exists(f"{other}/orders-0")


def test_the_same_partition_in_two_directories_stops_the_start() -> None:
    machine = Machine()
    for path in machine.paths:
        machine.disk.make_directory(f"{path}/orders-0")
    with pytest.raises(StorageError, match=r"/a/orders-0 and /b/orders-0 are the same partition"):
        machine.start()


def test_a_deleted_partition_is_gone_at_once_and_its_files_later() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    log = machine.create(dirs, ORDERS[0], records=3)
    path = dirs.schedule_deletion(ORDERS[0], at_ms=NOW_MS + 60_000, entropy=machine.entropy)
    assert path is not None
    assert path.startswith("/a/orders-0.")
    assert path.endswith("-delete")
    assert dirs.get(ORDERS[0]) is None
    assert _values(log) == [b"value 0", b"value 1", b"value 2"]
    machine.create(dirs, ORDERS[0])
    assert dirs.deletions_due(NOW_MS + 59_999) == []
    assert dirs.deletions_due(NOW_MS + 60_000) == [path]
    assert dirs.deletions_due(NOW_MS + 60_000) == []
    remove_tree(machine.disk, path)
    assert not machine.disk.exists(path)
    assert dirs.schedule_deletion(ORDERS[3], at_ms=0, entropy=machine.entropy) is None


def test_what_a_crash_left_of_a_deletion_is_removed_after_the_next_start() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    machine.create(dirs, ORDERS[0], records=3)
    path = dirs.schedule_deletion(ORDERS[0], at_ms=NOW_MS + 60_000, entropy=machine.entropy)
    assert path is not None
    machine.disk = machine.disk.crash()
    dirs = machine.start()
    assert dirs.get(ORDERS[0]) is None
    assert dirs.deletions_due(NOW_MS) == [path]
    remove_tree(machine.disk, path)
    machine.disk = machine.disk.crash()
    assert not machine.disk.exists(path)


def test_a_stray_partition_is_kept_for_a_human() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    machine.create(dirs, ORDERS[0], records=3)
    path = dirs.set_stray(ORDERS[0], entropy=machine.entropy)
    assert path is not None
    assert dirs.others == [path]
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    dirs = machine.start()
    assert dirs.others == [path]
    assert dirs.get(ORDERS[0]) is None
    assert machine.disk.list(path)


def test_a_rename_that_fails_takes_the_directory_offline() -> None:
    machine = Machine()
    dirs = machine.start()
    machine.create(dirs, ORDERS[0])
    machine.disk.faults.break_path("/a")
    assert dirs.schedule_deletion(ORDERS[0], at_ms=0, entropy=machine.entropy) is None
    assert [log_dir.path for log_dir in dirs.online] == ["/b"]


def test_a_creation_that_fails_takes_the_directory_offline() -> None:
    machine = Machine()
    dirs = machine.start()
    machine.disk.faults.break_path("/a/orders-0")
    with pytest.raises(StorageError, match=r"/a/orders-0: .*input/output error"):
        machine.create(dirs, ORDERS[0])
    assert machine.create(dirs, ORDERS[0]).directory == "/b/orders-0"


def test_progress_is_told_log_by_log() -> None:
    machine = Machine()
    dirs = machine.start()
    for key in ORDERS:
        machine.create(dirs, key)
    dirs.close(now_ms=NOW_MS, broker_epoch=1)
    told: list[tuple[int, int, str]] = []
    dirs = LogDirs.open(machine.disk, machine.paths, entropy=machine.entropy)
    dirs.load(machine.open_log, on_progress=lambda *step: told.append(step))
    assert told == [
        (1, 4, "orders-0"), (2, 4, "orders-2"), (3, 4, "orders-1"), (4, 4, "orders-3"),
    ]  # fmt: skip


def test_a_directory_of_apache_kafka_is_taken_over_on_threads_and_left_clean(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    shutil.copytree(GOLDEN, data)
    for path in [data, *data.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    disk, entropy = RealDisk(), SeededEntropy(1)

    def open_log(to_open: LogToOpen) -> Log:
        return Log.open(
            disk,
            to_open.directory,
            LogSettings(),
            now_ms=NOW_MS,
            last_stop=to_open.last_stop,
            draw_below=random.Random(1).randrange,
        )

    for epoch in (16, 17):
        dirs = LogDirs.open(disk, [str(data)], entropy=entropy, node_id=1)
        dirs.load(open_log, run=GroupThreads(2))
        assert dirs.log_dirs[0].clean_shutdown == (epoch,)
        assert dirs.broken == {}
        ends = {str(hosted.topic_partition): hosted.log.high_watermark for hosted in dirs}
        assert len(ends) == 12
        assert ends["g-txn-0"] == 24
        assert ends["g-plain-0"] == 15
        assert all(hosted.topic_id for hosted in dirs)
        dirs.close(now_ms=NOW_MS, broker_epoch=epoch + 1)
    recovered = read_offsets(disk, str(data / RECOVERY_POINTS))
    assert recovered == read_offsets(disk, str(GOLDEN / RECOVERY_POINTS))


def test_a_partition_without_its_topic_id_is_told_apart() -> None:
    machine = Machine("/a")
    machine.disk.make_directory("/a/orders-0")
    machine.disk.make_directory("/a/orders-1")
    write_topic_id(machine.disk, "/a/orders-1", TOPIC_ID)
    assert [hosted.topic_id for hosted in machine.start()] == [None, TOPIC_ID]


def test_a_partition_made_again_inherits_no_offsets_from_the_one_that_was_deleted() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    log = machine.create(dirs, ORDERS[0], records=9)
    log.update_high_watermark(9)
    log.advance_log_start_offset(5, now_ms=NOW_MS)
    log.flush(now_ms=NOW_MS)
    dirs.checkpoint_recovery_points()
    dirs.checkpoint_log_start_offsets()
    dirs.checkpoint_high_watermarks()
    dirs.schedule_deletion(ORDERS[0], at_ms=0, entropy=machine.entropy)
    machine.create(dirs, ORDERS[0], records=3).flush(now_ms=NOW_MS)
    machine.disk = machine.disk.crash()
    again = _log(machine.start(), ORDERS[0])
    assert (again.log_start_offset, again.recovery_point, again.high_watermark) == (0, 0, 0)
    assert len(_values(again)) == 3


def test_a_recovery_point_above_the_end_of_its_log_is_taken_back_at_once() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    machine.create(dirs, ORDERS[0], records=3).flush(now_ms=NOW_MS)
    replace_file(machine.disk, f"/a/{RECOVERY_POINTS}", b"0\n1\norders 0 100\n")
    machine.disk = machine.disk.crash()
    machine.start()
    assert read_offsets(machine.disk, f"/a/{RECOVERY_POINTS}") == {ORDERS[0]: 3}
