"""How many produced records per second can a broker validate, on one core?

The first number is the walk over every record; the second is `validate_batch`, with the header's rules
and the checksum. The clients aiokafka and kafka-python have nothing to compare: only brokers validate.
"""

from __future__ import annotations

from records_measure import (
    PAIRS,
    RECORD_COUNT,
    TIMESTAMP_MS,
    best_seconds,
    implementation_name,
    show,
)

from quire.records import implementation
from quire.records.batch import encode_pairs, read_header, read_section
from quire.records.validate import validate_batch


def main() -> None:
    batch = encode_pairs(PAIRS, TIMESTAMP_MS)
    section = read_section(batch, 0, read_header(batch))

    def scan() -> object:
        return implementation.scan_records(section, RECORD_COUNT)

    def validate() -> object:
        return validate_batch(
            batch, now_ms=TIMESTAMP_MS, compacted=True, before_max_ms=1000, after_max_ms=1000
        )

    show(f"validate every record ({implementation_name()})", best_seconds(scan, runs=2000))
    show("  whole batch with checksum", best_seconds(validate, runs=2000))


if __name__ == "__main__":
    main()
