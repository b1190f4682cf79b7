"""What the tests of one log share: a partition directory on a simulated disk, and batches to put there."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from quire.ports.disk import Disk
from quire.records.batch import Record, decode_batch, encode_batch, iterate_headers
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.sim.disk import SimDisk
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.lookup import ReadResult
from quire.storage.settings import LogSettings

NOW_MS = 1_000_000
GOLDEN = Path(__file__).parents[1] / "golden"
FAR = 2**62


class Home:
    """One partition directory. `log` is what `open` gave last."""

    def __init__(self, seed: int = 0, **settings: Any) -> None:
        self.directory = "/logs/t-0"
        self.disk: Any = SimDisk(seed)
        self.disk.make_directory(self.directory)
        self.disk.flush_directory("/logs")
        self.disk.flush_directory("/")
        self.settings = LogSettings(**settings)
        self.log: Log

    def open(
        self, *, clean: bool = False, recovery_point: int = 0, log_start_offset: int = 0
    ) -> Log:
        stop = LastStop(clean, recovery_point, log_start_offset)
        self.log = open_log(self.disk, self.directory, self.settings, stop)
        return self.log

    def close_and_open(self) -> Log:
        start = self.log.log_start_offset
        self.log.close(now_ms=NOW_MS)
        return self.open(clean=True, log_start_offset=start)

    def crash_and_open(self) -> Log:
        point, start = self.log.recovery_point, self.log.log_start_offset
        self.disk = self.disk.crash()
        return self.open(recovery_point=point, log_start_offset=start)

    def names(self) -> list[str]:
        return list(self.disk.list(self.directory))

    def path(self, name: str) -> str:
        return f"{self.directory}/{name}"

    def bytes_of(self, name: str) -> bytes:
        file = self.disk.open(self.path(name))
        return bytes(file.read(0, file.size()))

    def write(self, name: str, data: bytes) -> None:
        """Make `name` a durable file with exactly this content."""
        file = self.disk.open(self.path(name), create=True)
        file.truncate(0)
        file.write(0, (data,))
        file.flush()
        self.disk.flush_directory(self.directory)

    def fill(self, batches: int, *, records: int = 3, value: bytes = b"v" * 50) -> Log:
        for _ in range(batches):
            append(self.log, batch(records, value=value))
        return self.log


def open_log(disk: Disk, directory: str, settings: LogSettings, stop: LastStop) -> Log:
    return Log.open(
        disk,
        directory,
        settings,
        now_ms=NOW_MS,
        last_stop=stop,
        draw_below=random.Random(1).randrange,
    )


def batch(
    records: int = 3, *, timestamp: int = NOW_MS, value: bytes = b"v" * 50, **fields: Any
) -> bytearray:
    """A batch of records with ascending timestamps, the last of which is `timestamp`."""
    base = fields.get("base_offset", 0)
    return encode_batch(
        [Record(base + i, timestamp - records + 1 + i, None, value) for i in range(records)],
        **fields,
    )


def producer_batch(
    sequence: int, records: int = 3, *, producer_id: int = 7, **fields: Any
) -> bytearray:
    fields.setdefault("producer_epoch", 0)
    return batch(records, producer_id=producer_id, base_sequence=sequence, **fields)


def marker(producer_id: int, *, commit: bool, producer_epoch: int = 0) -> bytearray:
    return encode_end_transaction_marker(
        ControlType.COMMIT if commit else ControlType.ABORT,
        coordinator_epoch=1,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        timestamp=NOW_MS,
    )


def append(log: Log, buffer: bytearray, *, leader_epoch: int = 1, now_ms: int = NOW_MS) -> Any:
    """Append as the leader; markers come from a coordinator."""
    from_client = not buffer[22] & 0x20
    return log.append(buffer, leader_epoch=leader_epoch, now_ms=now_ms, from_client=from_client)


def read_records(log: Log, offset: int = 0, *, max_bytes: int = 1 << 30) -> list[Record]:
    """Every record from `offset` to the end of the log, segment by segment."""
    found: list[Record] = []
    offset = max(offset, log.log_start_offset)
    while offset < log.log_end_offset:
        result = log.read(offset, max_bytes=max_bytes, upper_bound_offset=FAR)
        assert isinstance(result, ReadResult)
        data = result.records.read()
        headers = list(iterate_headers(data))
        if not headers:
            break
        for position, header in headers:
            found.extend(decode_batch(data, position))
            offset = header.next_offset
    return [record for record in found if record.offset >= log.log_start_offset]


class Tools:
    """The functions above, for tests that have no fixture of their own."""

    NOW_MS = NOW_MS
    GOLDEN = GOLDEN
    FAR = FAR
    Home = Home
    open_log = staticmethod(open_log)
    batch = staticmethod(batch)
    producer_batch = staticmethod(producer_batch)
    marker = staticmethod(marker)
    append = staticmethod(append)
    read_records = staticmethod(read_records)


@pytest.fixture(scope="session")
def tools() -> type[Tools]:
    return Tools


@pytest.fixture
def home() -> Home:
    return Home()
