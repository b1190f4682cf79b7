"""How long does it take to find an offset in a log?

CPU microseconds per lookup at random places of a log of one sealed and one active segment, beside one bare `pread` of
the 8 KiB that a lookup reads at the least. A lookup by timestamp, which also decodes a batch, is among the remarks.

    python bench/log_lookup.py [--batch-bytes 16384] [--total-mb 256] [--rounds 15]
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable

from measure import Answer, race, tell

from quire.records.batch import encode_pairs
from quire.runtime.disk import RealDisk
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.scan import LOOKUP_CHUNK_BYTES
from quire.storage.settings import LogSettings


def filled(directory: str, *, batch_bytes: int, batches: int) -> Log:
    log = Log.open(
        RealDisk(), directory, LogSettings(), now_ms=1, last_stop=LastStop(), draw_below=lambda _: 0
    )
    pairs = [(None, bytes(100))] * max(1, (batch_bytes - 61) // 108)
    for number in range(batches):
        if number == batches // 2:
            log.roll(now_ms=1)
        log.append(encode_pairs(pairs, 10 * number), leader_epoch=1, now_ms=1)
    return log


def seconds_per_call(call: Callable[[int], object], arguments: list[int]) -> float:
    started = time.process_time()
    for argument in arguments:
        call(argument)
    return (time.process_time() - started) / len(arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-bytes", type=int, default=16_384)
    parser.add_argument("--total-mb", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    batches = max(2, options.total_mb * 1_000_000 // options.batch_bytes)
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        log = filled(directory, batch_bytes=options.batch_bytes, batches=batches)
        end = log.log_end_offset
        offsets = [chance.randrange(end) for _ in range(2000)]
        stamps = [chance.randrange(10 * batches) for _ in range(200)]
        sealed = log.segments[0]
        positions = [chance.randrange(sealed.size - LOOKUP_CHUNK_BYTES) for _ in range(2000)]
        descriptor = os.open(sealed.path, os.O_RDONLY)
        spent = race(
            {
                "offset": lambda: seconds_per_call(
                    lambda offset: log.read(offset, max_bytes=65_536, upper_bound_offset=end),
                    offsets,
                ),
                "timestamp": lambda: seconds_per_call(log.offset_for_timestamp, stamps),
                "pread": lambda: seconds_per_call(
                    lambda position: os.pread(descriptor, LOOKUP_CHUNK_BYTES, position), positions
                ),
            },
            rounds=options.rounds,
        )
        os.close(descriptor)
        log.close(now_ms=1)
    found = spent["offset"]
    tell(
        Answer(
            best=found.best * 1e6,
            median=found.median * 1e6,
            unit="us per lookup by offset",
            smaller_is_better=True,
            beside={"a bare pread": spent["pread"].best / found.best},
            remarks=[
                (
                    f"batches of {options.batch_bytes} B; by timestamp {spent['timestamp'].best * 1e6:.1f},"
                    f" a bare pread {spent['pread'].best * 1e6:.2f} us"
                )
            ],
        )
    )


if __name__ == "__main__":
    main()
