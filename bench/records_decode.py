"""How many records per second does a batch give back as `Record` tuples, on one core?"""

from __future__ import annotations

from records_measure import (
    PAIRS,
    RECORD_COUNT,
    TIMESTAMP_MS,
    best_seconds,
    implementation_name,
    peer,
    show,
    show_ratio,
)

from quire.records.batch import decode_batch, encode_pairs


def main() -> None:
    batch = bytes(encode_pairs(PAIRS, TIMESTAMP_MS))
    ours = best_seconds(lambda: decode_batch(batch))
    show(f"decode to Record tuples ({implementation_name()})", ours)
    for name, module in (
        ("aiokafka", peer("aiokafka.record.memory_records")),
        ("kafka-python", peer("kafka.record.memory_records")),
    ):
        if module is None:
            continue

        def read(reader: type = module.MemoryRecords) -> list[object]:
            return [
                (record.offset, record.timestamp, record.key, record.value, record.headers)
                for record in reader(batch).next_batch()
            ]

        assert len(read()) == RECORD_COUNT
        show_ratio(name, ours, best_seconds(read))


if __name__ == "__main__":
    main()
