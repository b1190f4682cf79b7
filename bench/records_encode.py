"""How many records per second become a batch, checksum included, on one core?"""

from __future__ import annotations

from records_measure import (
    PAIRS,
    TIMESTAMP_MS,
    best_seconds,
    implementation_name,
    peer,
    show,
    show_ratio,
)

from quire.records.batch import Record, encode_batch, encode_pairs


def main() -> None:
    ours = best_seconds(lambda: encode_pairs(PAIRS, TIMESTAMP_MS))
    show(f"encode keys and values ({implementation_name()})", ours)
    records = [Record(offset, TIMESTAMP_MS, *pair) for offset, pair in enumerate(PAIRS)]
    show("  from Record tuples", best_seconds(lambda: encode_batch(records)))
    for name, module in (
        ("aiokafka", peer("aiokafka.record.default_records")),
        ("kafka-python", peer("kafka.record.default_records")),
    ):
        if module is None:
            continue

        def build(builder_type: type = module.DefaultRecordBatchBuilder) -> object:
            builder = builder_type(
                magic=2,
                compression_type=0,
                is_transactional=0,
                producer_id=-1,
                producer_epoch=-1,
                base_sequence=-1,
                batch_size=1 << 20,
            )
            for offset, (key, value) in enumerate(PAIRS):
                builder.append(offset, TIMESTAMP_MS, key, value, [])
            return builder.build()

        assert len(build()) == len(encode_pairs(PAIRS, TIMESTAMP_MS))
        show_ratio(name, ours, best_seconds(build))


if __name__ == "__main__":
    main()
