"""How fast is an unclean start: the check of every batch of a segment, and its indexes made anew?

MB per CPU second, beside reading the same file in the same pieces. The batches hold records of 100 bytes.

    python bench/log_recovery.py [--batch-bytes 16384] [--total-mb 512] [--rounds 5] [--idempotent]
"""

from __future__ import annotations

import argparse
import tempfile
import time

from measure import Answer, race, tell

from quire.records.batch import encode_pairs
from quire.runtime.disk import RealDisk
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.recovery import RECOVERY_CHUNK_BYTES
from quire.storage.settings import LogSettings


def open_log(directory: str, *, clean: bool) -> Log:
    return Log.open(
        RealDisk(),
        directory,
        LogSettings(segment_bytes=2**31 - 1),
        now_ms=1,
        last_stop=LastStop(clean=clean),
        draw_below=lambda _: 0,
    )


def fill(directory: str, options: argparse.Namespace) -> None:
    log = open_log(directory, clean=True)
    pairs = [(None, bytes(100))] * max(1, (options.batch_bytes - 61) // 108)
    sequence = 0
    while log.segments.active.size < options.total_mb * 1_000_000:
        fields = (
            {"producer_id": 1, "producer_epoch": 0, "base_sequence": sequence}
            if options.idempotent
            else {}
        )
        log.append(encode_pairs(pairs, 1, **fields), leader_epoch=1, now_ms=1)
        sequence += len(pairs)
    log.close(now_ms=1)


def read_seconds(path: str) -> float:
    file = RealDisk().open(path)
    buffer = memoryview(bytearray(RECOVERY_CHUNK_BYTES))
    started = time.process_time()
    position = 0
    while count := file.read_into(position, buffer):
        position += count
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-bytes", type=int, default=16_384)
    parser.add_argument("--total-mb", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idempotent", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        fill(directory, options)
        scanned: list[int] = []

        def recover() -> float:
            started = time.process_time()
            log = open_log(directory, clean=False)
            seconds = time.process_time() - started
            scanned.append(log.recovery.scanned_bytes)
            return seconds

        spent = race(
            {"recovery": recover, "reading": lambda: read_seconds(f"{directory}/{0:020d}.log")},
            rounds=options.rounds,
        )
    whole, megabytes = spent["recovery"], max(scanned) / 1e6
    tell(
        Answer(
            best=megabytes / whole.best,
            median=megabytes / whole.median,
            unit="MB per CPU second",
            beside={"only reading": spent["reading"].best / whole.best},
            remarks=[
                f"batches of {options.batch_bytes} B; {whole.best / megabytes * 1000:.2f} CPU s per GB"
            ],
        )
    )


if __name__ == "__main__":
    main()
