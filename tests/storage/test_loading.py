"""Opening partition directories: those of Apache Kafka, those of a crash, those with files missing."""

import shutil

import pytest

from quire.records.batch import iterate_headers
from quire.runtime.disk import RealDisk
from quire.storage.file_names import LOG, base_offsets
from quire.storage.loading import LastStop
from quire.storage.settings import LogSettings

PARTITIONS = [
    "data-clean/g-plain-0",
    "data-clean/g-txn-0",
    "data-clean/g-compact-0",
    "data-clean/__consumer_offsets-0",
    "data-clean/__consumer_offsets-1",
    "data-clean/__consumer_offsets-2",
    "data-clean/__transaction_state-0",
    "data-clean/__transaction_state-1",
    "data-clean/__transaction_state-2",
    "data-clean/__share_group_state-0",
    "data-clean/__share_group_state-1",
    "data-clean/__share_group_state-2",
    "data-clean/__cluster_metadata-0",
    "g-compact-tombstone",
    "g-java-codecs",
    "three-node-metadata-0",
]


def golden(tools, tmp_path, partition, **stop):
    source = tools.GOLDEN / partition
    directory = tmp_path / "p"
    shutil.copytree(source, directory, dirs_exist_ok=True)
    return directory, tools.open_log(RealDisk(), str(directory), LogSettings(), LastStop(**stop))


def batches_on_disk(directory):
    found = []
    for start in base_offsets(sorted(path.name for path in directory.iterdir()), LOG):
        found += [h for _, h in iterate_headers((directory / f"{start:020d}.log").read_bytes())]
    return found


def contents(directory):
    return {
        path.name: path.read_bytes()
        for path in sorted(directory.iterdir())
        if path.name.endswith((".log", "index", "leader-epoch-checkpoint"))
    }


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("clean", [True, False])
def test_kafkas_own_directories_open_with_the_same_batches(tools, tmp_path, partition, clean):
    _, log = golden(tools, tmp_path, partition, clean=clean)
    expected = batches_on_disk(tools.GOLDEN / partition)
    assert log.recovery.is_sound
    assert log.log_end_offset == (expected[-1].next_offset if expected else 0)
    found = []
    for segment in log.segments:
        data = segment.slice(0, segment.size).read()
        found += [header for _, header in iterate_headers(data)]
    assert found == expected
    records = tools.read_records(log)
    assert len(records) == sum(header.record_count for header in expected)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_indexes_made_from_the_log_have_the_bytes_of_kafkas(tools, tmp_path, partition):
    names = [path.name for path in (tools.GOLDEN / partition).iterdir()]
    indexes = [name for name in names if name.endswith("index")]
    if not indexes:
        pytest.skip("the golden directory comes without indexes")
    directory = tmp_path / "p"
    shutil.copytree(tools.GOLDEN / partition, directory)
    for name in [*indexes, *(name for name in names if name.endswith(".snapshot"))]:
        (directory / name).unlink()
    log = tools.open_log(RealDisk(), str(directory), LogSettings(), LastStop())
    log.close(now_ms=tools.NOW_MS)
    for name in indexes:
        assert (directory / name).read_bytes() == (tools.GOLDEN / partition / name).read_bytes()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_clean_start_and_stop_changes_no_byte(tools, tmp_path, partition):
    before = contents(tools.GOLDEN / partition)
    directory, log = golden(tools, tmp_path, partition, clean=True)
    log.close(now_ms=tools.NOW_MS)
    after = contents(directory)
    for name, data in before.items():
        assert after[name] == data, name


def test_the_transactions_of_kafkas_log_are_known(tools, tmp_path):
    _, log = golden(tools, tmp_path, "data-clean/g-txn-0", clean=True)
    assert log.log_end_offset == 24
    log.update_high_watermark(24)
    assert log.last_stable_offset == 24
    aborted = log.aborted_transactions(0, 24)
    hidden = {
        offset
        for transaction in aborted
        for offset in range(transaction.first_offset, transaction.last_offset)
    }
    assert {4, 5, 11, 12} <= hidden
    assert log.aborted_transactions(23, 24) == []


def test_the_deleted_files_of_a_log_go_when_it_is_opened(tools, tmp_path):
    directory, log = golden(tools, tmp_path, "data-clean/g-compact-0", clean=True)
    assert not [path for path in directory.iterdir() if path.name.endswith(".deleted")]
    assert len(log.recovery.removed_files) > 0
    assert [segment.base_offset for segment in log.segments] == [0, 16]


def test_an_index_without_its_log_is_removed(tools, home):
    home.open()
    home.fill(3)
    home.log.close(now_ms=tools.NOW_MS)
    home.write("00000000000000000100.index", b"")
    log = home.open(clean=True)
    assert "00000000000000000100.index" not in home.names()
    assert log.recovery.removed_files == [home.path("00000000000000000100.index")]


@pytest.mark.parametrize("kind", [".index", ".timeindex"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_missing_index_is_made_anew(tools, kind, clean):
    home = tools.Home(segment_bytes=10_000)
    home.open()
    home.fill(150)
    home.log.close(now_ms=tools.NOW_MS)
    names = [name for name in home.names() if name.endswith(kind)]
    before = {name: home.bytes_of(name) for name in names}
    assert any(before.values())
    for name in names:
        home.disk.remove(home.path(name))
    log = home.open(clean=clean)
    assert [r.offset for r in tools.read_records(log)] == list(range(450))
    assert all(segment.largest.timestamp == tools.NOW_MS for segment in log.segments)
    log.close(now_ms=tools.NOW_MS)
    assert {name: home.bytes_of(name) for name in names} == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data + bytes(10_485_760 - len(data)),
        lambda data: data[:-3],
        lambda data: data[:-8] + b"\xff" * 8,
        lambda data: b"\x7f" * len(data),
    ],
    ids=["preallocated zeros", "torn entry", "negative entry", "noise"],
)
@pytest.mark.parametrize("clean", [True, False])
def test_a_wrong_offset_index_is_made_anew(tools, home, damage, clean):
    home.open()
    home.fill(200)
    home.log.close(now_ms=tools.NOW_MS)
    name = "00000000000000000000.index"
    before = home.bytes_of(name)
    home.write(name, damage(before))
    log = home.open(clean=clean)
    assert [r.offset for r in tools.read_records(log, 300)] == list(range(300, 600))
    log.close(now_ms=tools.NOW_MS)
    assert home.bytes_of(name) == before


def test_the_zero_tail_of_a_time_index_that_kafka_preallocated_is_cut(tools, home):
    home.open()
    home.fill(200)
    home.log.close(now_ms=tools.NOW_MS)
    name = "00000000000000000000.timeindex"
    before = home.bytes_of(name)
    home.write(name, before[:-12] + bytes(10_485_756 - len(before) + 12))
    log = home.open(clean=True)
    assert log.segments.active.index_fault is not None
    log.close(now_ms=tools.NOW_MS)
    assert home.bytes_of(name) == before


def test_the_epoch_history_is_collected_from_the_batches_when_it_is_lost(tools, home):
    home.open()
    for epoch in (3, 3, 5, 9):
        tools.append(home.log, tools.batch(), leader_epoch=epoch)
    home.log.close(now_ms=tools.NOW_MS)
    expected = home.log.leader_epochs.entries
    home.disk.remove(home.path("leader-epoch-checkpoint"))
    assert home.open(clean=True).leader_epochs.entries == expected
    home.log.close(now_ms=tools.NOW_MS)
    home.write("leader-epoch-checkpoint", b"nonsense\n")
    log = home.open(clean=True)
    assert log.leader_epochs.entries == expected
    assert "leader-epoch-checkpoint" in log.recovery.rebuilt[0]


def test_a_log_that_ends_below_its_start_is_emptied_and_begins_there(tools, home):
    home.open()
    home.fill(3)
    home.log.close(now_ms=tools.NOW_MS)
    log = home.open(clean=True, log_start_offset=50)
    assert (log.log_start_offset, log.log_end_offset) == (50, 50)
    assert tools.read_records(log) == []
    assert not log.recovery.is_sound
    tools.append(log, tools.batch())
    assert [record.offset for record in tools.read_records(log, 50)] == [50, 51, 52]


def test_a_clean_marker_over_a_torn_tail_is_not_believed(tools, home):
    home.open()
    home.fill(30)
    home.log.close(now_ms=tools.NOW_MS)
    name = "00000000000000000000.log"
    home.write(name, home.bytes_of(name)[:-5])
    log = home.open(clean=True)
    assert log.log_end_offset == 87
    assert log.recovery.truncated_bytes > 0
    assert "stopped cleanly" in log.recovery.rebuilt[0]


def test_an_empty_directory_becomes_an_empty_log_at_the_log_start(home):
    log = home.open(log_start_offset=42)
    assert (log.log_start_offset, log.log_end_offset) == (42, 42)
    assert "00000000000000000042.log" in home.names()


def test_a_producer_snapshot_that_is_broken_is_replaced_by_the_log(tools, home):
    home.open()
    for number in range(4):
        tools.append(home.log, tools.producer_batch(3 * number))
    home.log.close(now_ms=tools.NOW_MS)
    home.write("00000000000000000012.snapshot", b"broken")
    log = home.open(clean=True)
    assert log.producers.get(7).last_sequence == 11
    assert any("snapshot" in line for line in log.recovery.rebuilt)


@pytest.mark.parametrize("waits", [False, True])
def test_where_answers_wait_for_the_disk_what_a_kill_left_is_flushed_before_it_is_shown(
    tools, waits
):
    for seed in range(12):
        home = tools.Home(seed, fsync_before_ack=waits)
        home.open()
        home.fill(3)
        end = home.log.log_end_offset
        home.disk = home.disk.kill()
        log = home.open(clean=False)
        assert log.log_end_offset == end
        log = home.crash_and_open()
        if waits:
            assert log.log_end_offset == end, "shown once, it stays"
