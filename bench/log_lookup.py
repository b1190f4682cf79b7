"""How long does it take to find an offset, or a timestamp, in a log?

Prints CPU microseconds per lookup by offset, and its ratio to the one by timestamp (which also decodes a batch), at
random places of a log of one sealed and one active segment.

    python bench/log_lookup.py [--batch-bytes 16384] [--total-mb 256] [--lookups 20000]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable

from quire.records.batch import encode_pairs
from quire.runtime.disk import RealDisk
from quire.storage.loading import LastStop
from quire.storage.log import Log
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


def us_per_call(call: Callable[[int], object], arguments: list[int]) -> float:
    started = time.process_time()
    for argument in arguments:
        call(argument)
    return (time.process_time() - started) / len(arguments) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-bytes", type=int, default=16_384)
    parser.add_argument("--total-mb", type=int, default=256)
    parser.add_argument("--lookups", type=int, default=20_000)
    options = parser.parse_args()
    batches = max(2, options.total_mb * 1_000_000 // options.batch_bytes)
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        log = filled(directory, batch_bytes=options.batch_bytes, batches=batches)
        end = log.log_end_offset
        offsets = [chance.randrange(end) for _ in range(options.lookups)]
        stamps = [chance.randrange(10 * batches) for _ in range(options.lookups // 10)]
        by_offset = us_per_call(
            lambda offset: log.read(offset, max_bytes=65_536, upper_bound_offset=end), offsets
        )
        by_time = us_per_call(log.offset_for_timestamp, stamps)
        log.close(now_ms=1)
    print(
        f"{by_offset:.1f} us per lookup by offset in batches of {options.batch_bytes} B,"
        f" {by_offset / by_time:.2f} of one by timestamp ({by_time:.1f} us)"
    )


if __name__ == "__main__":
    main()
