"""How many MB of log per second can the cleaner's offset map take in and filter, on one core, without files?

64 batches of 1,000 records in memory; every key is written twice, so half of the records go. Beside what the checksums
of the same bytes take, which a cleaning pays as well.
"""

from __future__ import annotations

import time

from measure import TIMESTAMP_MS, Answer, implementation_name, race, tell

from quire.records.batch import check_crc, encode_pairs, read_header
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
    maps: list[OffsetMap] = []

    def fill() -> float:
        offset_map = OffsetMap(4 << 20, bytes(range(16)))
        maps[:] = [offset_map]
        began = time.perf_counter()
        for batch, header in zip(batches, headers, strict=True):
            assert offset_map.put_batch(batch, 0, header) == -1
        return time.perf_counter() - began

    def choose() -> float:
        kept = 0
        began = time.perf_counter()
        for batch, header in zip(batches, headers, strict=True):
            kept += filter_batch(batch, 0, header, offset_map=maps[0], rules=RULES).records_kept
        seconds = time.perf_counter() - began
        assert kept == BATCHES * 500
        return seconds

    def both() -> float:
        return fill() + choose()

    def checksums() -> float:
        began = time.perf_counter()
        for batch, header in zip(batches, headers, strict=True):
            assert check_crc(batch, 0, header)
        return time.perf_counter() - began

    fill()
    spent = race({"both": both, "fill": fill, "filter": choose, "checksums": checksums}, rounds=20)
    tell(
        Answer(
            best=size / spent["both"].best / 1e6,
            median=size / spent["both"].median / 1e6,
            unit="MB/s",
            beside={"the checksums alone": spent["checksums"].best / spent["both"].best},
            remarks=[
                (
                    f"by the {implementation_name()}; to fill alone {size / spent['fill'].best / 1e6:.0f},"
                    f" to filter alone {size / spent['filter'].best / 1e6:.0f} MB/s"
                )
            ],
        )
    )


if __name__ == "__main__":
    main()
