"""How fast does a log take batches, against a bare write of the same bytes?

MB per CPU second of `Log.append` (user and system, so that neighbours on the machine count less) beside `pwritev` of
the same buffer, in alternating rounds, each into a new file.

    python bench/log_append.py [--batch-bytes 16384] [--total-mb 256] [--rounds 7] [--directory DIR]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable

from measure import Answer, race, tell

from quire.records.batch import encode_pairs, read_header
from quire.runtime.disk import RealDisk
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings


def batch_of(size: int) -> bytearray:
    empty = len(encode_pairs([(None, bytes(200))], 1)) - 200
    return encode_pairs([(None, bytes(max(1, size - empty)))], 1)


def append_seconds(directory: str, batch: bytearray, count: int) -> float:
    log = Log.open(
        RealDisk(), directory, LogSettings(), now_ms=1, last_stop=LastStop(), draw_below=lambda _: 0
    )
    header = read_header(batch)  # a broker has it from its checks
    append = log.append
    started = time.process_time()
    for _ in range(count):
        append(batch, header=header, leader_epoch=1, now_ms=1)
    seconds = time.process_time() - started
    log.close(now_ms=1)
    return seconds


def write_seconds(directory: str, batch: bytearray, count: int) -> float:
    descriptor = os.open(f"{directory}/bare", os.O_RDWR | os.O_CREAT, 0o600)
    position, size = 0, len(batch)
    started = time.process_time()
    for _ in range(count):
        os.pwritev(descriptor, (batch,), position)
        position += size
    seconds = time.process_time() - started
    os.fsync(descriptor)
    os.close(descriptor)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-bytes", type=int, default=16_384)
    parser.add_argument("--total-mb", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--directory")
    options = parser.parse_args()
    batch = batch_of(options.batch_bytes)
    count = max(1, options.total_mb * 1_000_000 // len(batch))

    def into_a_new_directory(write: Callable[[str, bytearray, int], float]) -> float:
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            return write(directory, batch, count)

    spent = race(
        {
            "log": lambda: into_a_new_directory(append_seconds),
            "bare": lambda: into_a_new_directory(write_seconds),
        },
        rounds=options.rounds,
    )
    log, bare = spent["log"], spent["bare"]
    megabytes = count * len(batch) / 1e6
    tell(
        Answer(
            best=megabytes / log.best,
            median=megabytes / log.median,
            unit="MB per CPU second",
            beside={"a bare pwritev": bare.best / log.best},
            remarks=[
                (
                    f"batches of {len(batch)} B; {(log.best - bare.best) / count * 1e6:.1f} us above"
                    " the bare write per batch"
                )
            ],
        )
    )


if __name__ == "__main__":
    main()
