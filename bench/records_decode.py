"""How many records per second does a batch give back, as tuples of Python's own values, on one core?

Offset, timestamp, key, value and headers of every record, read from the bytes of one batch of 1,000.
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

from quire.records.batch import decode_batch, encode_pairs

TARGET = 12.0


def main() -> None:
    batch = bytes(encode_pairs(PAIRS, TIMESTAMP_MS))
    ours = decode_batch(batch)
    turns = {"ours": turn(lambda: decode_batch(batch))}
    missing = []
    for distribution, module in (
        ("aiokafka", "aiokafka.record.memory_records"),
        ("kafka-python", "kafka.record.memory_records"),
    ):
        name, found = peer(distribution, module)
        if found is None:
            missing.append(name)
            continue

        def read(reader: type = found.MemoryRecords) -> list[object]:
            return [
                (record.offset, record.timestamp, record.key, record.value, record.headers)
                for record in reader(batch).next_batch()
            ]

        assert [row[:4] for row in read()] == [record[:4] for record in ours]
        turns[name] = turn(read)
    spent = race(turns)
    mine = spent.pop("ours")
    millions = RECORD_COUNT / 1e6
    tell(
        Answer(
            best=millions / mine.best,
            median=millions / mine.median,
            unit="M records/s",
            target=TARGET,
            beside={name: theirs.best / mine.best for name, theirs in spent.items()},
            missing=missing,
            remarks=[
                f"by the {implementation_name()}",
                *(f"{n}: {millions / theirs.best:.2f} M records/s" for n, theirs in spent.items()),
            ],
        )
    )


if __name__ == "__main__":
    main()
