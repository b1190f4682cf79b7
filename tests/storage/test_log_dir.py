"""One log directory: its claim, its promise, its checkpoints."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from quire.errors import StorageError
from quire.sim.disk import SimDisk
from quire.storage.checkpoints import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from quire.storage.clean_shutdown import read_clean_shutdown, write_clean_shutdown
from quire.storage.log import Log
from quire.storage.log_dir import LogDir, LogToOpen
from quire.storage.meta_properties import MetaProperties, read_meta_properties
from quire.storage.partition_metadata import read_topic_id, write_topic_id
from quire.storage.settings import LogSettings
from quire.storage.small_files import replace_file
from quire.types import TopicPartition, uuid_from_text

PAGE = Path(__file__).parents[2] / "docs/formats/log-directory.md"
ORDERS = TopicPartition("orders", 0)


def _open_log(disk: SimDisk, to_open: LogToOpen) -> Log:
    return Log.open(
        disk,
        to_open.directory,
        LogSettings(segment_index_bytes=80),
        now_ms=0,
        last_stop=to_open.last_stop,
        draw_below=random.Random(1).randrange,
    )


def _log_dir(disk: SimDisk) -> LogDir:
    log_dir = LogDir(disk, "/a")
    log_dir.claim()
    return log_dir


def test_a_claimed_directory_is_refused_to_a_second_process_until_it_is_released() -> None:
    disk = SimDisk()
    first = _log_dir(disk)
    with pytest.raises(StorageError, match="/a is in use by another process"):
        _log_dir(disk)
    first.release()
    _log_dir(disk)


def test_the_promise_is_taken_back_before_anything_else_is_written() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    write_clean_shutdown(disk, "/a", 7)
    log_dir = _log_dir(disk)
    before = len(disk.trace.lines)
    log_dir.begin()
    assert disk.trace.lines[before:] == ["remove /a/.kafka_cleanshutdown", "flushdir /a"]
    assert log_dir.clean_shutdown is not None
    assert log_dir.clean_shutdown.broker_epoch == 7
    assert log_dir.last_stop(ORDERS).clean


def test_checkpoints_tell_each_log_how_it_was_left() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    replace_file(disk, f"/a/{RECOVERY_POINTS}", b"0\n1\norders 0 5\n")
    replace_file(disk, f"/a/{LOG_START_OFFSETS}", b"0\n1\norders 0 3\n")
    replace_file(disk, f"/a/{HIGH_WATERMARKS}", b"broken")
    log_dir = _log_dir(disk)
    log_dir.begin()
    assert log_dir.last_stop(ORDERS) == (False, 5, 3)
    assert log_dir.last_stop(TopicPartition("orders", 1)) == (False, 0, 0)
    (error,) = log_dir.discarded
    assert f"/a/{HIGH_WATERMARKS}: line 1" in str(error)


def test_contents_are_told_apart_by_their_names() -> None:
    disk = SimDisk()
    unique = "0123456789abcdef" * 2
    for name in (
        "orders-0",
        "__cluster_metadata-0",
        f"gone-1.{unique}-delete",
        f"copy-1.{unique}-future",
        f"odd-1.{unique}-stray",
        "lost+found",
    ):
        disk.make_directory(f"/a/{name}")
    disk.open("/a/a_file-0", create=True)
    contents = _log_dir(disk).contents()
    assert [(each.topic_partition, each.directory) for each in contents.live] == [
        (ORDERS, "/a/orders-0")
    ]
    assert contents.deleted == (f"/a/gone-1.{unique}-delete",)
    assert contents.others == (
        f"/a/copy-1.{unique}-future",
        "/a/lost+found",
        f"/a/odd-1.{unique}-stray",
    )


def test_an_opened_log_knows_its_topic_and_its_rows_are_checkpointed() -> None:
    disk = SimDisk()
    disk.make_directory("/a/orders-0")
    write_topic_id(disk, "/a/orders-0", b"i" * 16)
    log_dir = _log_dir(disk)
    log_dir.begin()
    hosted = log_dir.open_log(
        LogToOpen(ORDERS, "/a/orders-0", log_dir.last_stop(ORDERS)),
        lambda to_open: _open_log(disk, to_open),
    )
    assert hosted.topic_id == b"i" * 16
    log_dir.logs[ORDERS] = hosted
    assert log_dir.checkpoint(RECOVERY_POINTS).offsets == {ORDERS: 0}
    assert log_dir.checkpoint(LOG_START_OFFSETS).offsets == {}
    log_dir.checkpoint(HIGH_WATERMARKS).run()
    assert disk.open(f"/a/{HIGH_WATERMARKS}").read(0, 99) == b"0\n1\norders 0 0\n"


def test_a_broken_partition_keeps_its_rows_and_forbids_the_promise() -> None:
    disk = SimDisk()
    disk.make_directory("/a")
    replace_file(disk, f"/a/{LOG_START_OFFSETS}", b"0\n2\nother 0 1\norders 0 3\n")
    log_dir = _log_dir(disk)
    log_dir.begin()
    log_dir.is_loaded = True
    assert log_dir.is_whole
    log_dir.broken[ORDERS] = StorageError("unreadable")
    assert log_dir.checkpoint(LOG_START_OFFSETS).offsets == {ORDERS: 3}
    assert not log_dir.is_whole


def test_a_directory_that_was_never_loaded_is_not_promised() -> None:
    log_dir = _log_dir(SimDisk())
    log_dir.begin()
    assert not log_dir.is_whole


def test_a_failed_directory_keeps_its_first_reason() -> None:
    log_dir = _log_dir(SimDisk())
    first = OSError(5, "first")
    assert log_dir.fail(first) == []
    assert log_dir.fail(OSError(5, "second")) == []
    assert log_dir.failure is first


def test_the_logs_of_a_failed_directory_serve_nothing_more() -> None:
    disk = SimDisk()
    disk.make_directory("/a/orders-0")
    log_dir = _log_dir(disk)
    log_dir.begin()
    to_open = LogToOpen(ORDERS, "/a/orders-0", log_dir.last_stop(ORDERS))
    hosted = log_dir.open_log(to_open, lambda to_open: _open_log(disk, to_open))
    log_dir.logs[ORDERS] = hosted
    error = OSError(5, "gone")
    assert log_dir.fail(error) == [ORDERS]
    assert hosted.log.failure is error


def test_the_examples_of_the_format_page_are_read() -> None:
    page = PAGE.read_text()
    disk = SimDisk()
    for fence, path in (
        ("properties", "/meta.properties"),
        ("json", "/.kafka_cleanshutdown"),
        ("text", "/partition.metadata"),
    ):
        example = page.split(f"```{fence}\n")[1].split("```")[0]
        replace_file(disk, path, example.removesuffix("\n").encode())
    directory_id = uuid_from_text("kacmbi_gQLC08eYStE33bg")
    meta = MetaProperties("PzJIwIKORUm3lDcXOerb8A", 1, directory_id)
    assert read_meta_properties(disk, "/") == meta
    assert read_clean_shutdown(disk, "/") == (16,)
    assert read_topic_id(disk, "/") == uuid_from_text("D9OOnUSjR8aRY28ImcrXhQ")
    assert disk.stat("/partition.metadata").size == 43
