"""How many MB of log per second can the cleaner's offset map take in and filter, on one core?

64 batches of 1,000 records; every key is written twice, so half of the records go.
"""

from __future__ import annotations

import time

from records_measure import TIMESTAMP_MS, implementation_name

from quire.records.batch import encode_pairs, read_header
from quire.records.compaction import FilterRules, OffsetMap, filter_batch

BATCHES = 64
RULES = FilterRules(now_ms=TIMESTAMP_MS, new_delete_horizon_ms=TIMESTAMP_MS + 1)


def sample() -> list[bytearray]:
    keys = [b"key-%06d" % (number * 7919 % (BATCHES * 500)) for number in range(BATCHES * 1000)]
    return [
        encode_pairs(
            [(key, b"v" * 100) for key in keys[start : start + 1000]],
            TIMESTAMP_MS,
            base_offset=start,
        )
        for start in range(0, len(keys), 1000)
    ]


def main() -> None:
    batches = sample()
    headers = [read_header(batch) for batch in batches]
    size = sum(map(len, batches))
    best_fill = best_filter = float("inf")
    for _ in range(10):
        offset_map = OffsetMap(4 << 20, bytes(range(16)))
        began = time.perf_counter()
        for batch, header in zip(batches, headers, strict=True):
            assert offset_map.put_batch(batch, 0, header) == -1
        filled = time.perf_counter()
        kept = 0
        for batch, header in zip(batches, headers, strict=True):
            result = filter_batch(batch, 0, header, offset_map=offset_map, rules=RULES)
            kept += result.records_kept
        ended = time.perf_counter()
        assert kept == BATCHES * 500
        best_fill = min(best_fill, filled - began)
        best_filter = min(best_filter, ended - filled)
    rate = size / (best_fill + best_filter) / 1e6
    print(f"fill and filter ({implementation_name()}): {rate:.0f} MB/s")
    print(f"  fill alone {size / best_fill / 1e6:.0f} MB/s")
    print(f"  filter alone {size / best_filter / 1e6:.0f} MB/s")


if __name__ == "__main__":
    main()
