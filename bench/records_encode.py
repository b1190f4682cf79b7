"""How many records per second become a batch, checksum included, on one core?

Keys of 10 bytes, values of 100, 1,000 records a batch: pairs with one timestamp, as a producer that batches has them.
"""

from __future__ import annotations

from measure import (
    PAIRS,
    RECORD_COUNT,
    TIMESTAMP_MS,
    Answer,
    implementation_name,
    peer,
    race,
    tell,
    turn,
)

from quire.records.batch import Record, encode_batch, encode_pairs

TARGET = 25.0


def builder(kind: type) -> bytes:
    made = kind(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for offset, (key, value) in enumerate(PAIRS):
        made.append(offset, TIMESTAMP_MS, key, value, [])
    return made.build()


def main() -> None:
    ours = encode_pairs(PAIRS, TIMESTAMP_MS)
    records = [Record(offset, TIMESTAMP_MS, *pair) for offset, pair in enumerate(PAIRS)]
    turns = {
        "pairs": turn(lambda: encode_pairs(PAIRS, TIMESTAMP_MS)),
        "records": turn(lambda: encode_batch(records)),
    }
    missing = []
    for distribution, module in (
        ("aiokafka", "aiokafka.record.default_records"),
        ("kafka-python", "kafka.record.default_records"),
    ):
        name, found = peer(distribution, module)
        if found is None:
            missing.append(name)
            continue
        kind = found.DefaultRecordBatchBuilder
        assert len(builder(kind)) == len(ours)
        turns[name] = turn(lambda kind=kind: builder(kind))
    spent = race(turns)
    pairs, tuples = spent.pop("pairs"), spent.pop("records")
    millions = RECORD_COUNT / 1e6
    tell(
        Answer(
            best=millions / pairs.best,
            median=millions / pairs.median,
            unit="M records/s",
            target=TARGET,
            beside={name: theirs.best / pairs.best for name, theirs in spent.items()},
            missing=missing,
            remarks=[
                (
                    f"by the {implementation_name()}; from Record tuples"
                    f" {millions / tuples.best:.1f} (median {millions / tuples.median:.1f})"
                ),
                *(f"{n}: {millions / theirs.best:.2f} M records/s" for n, theirs in spent.items()),
            ],
        )
    )


if __name__ == "__main__":
    main()
