"""How many produced records per second can a broker validate, checksum and all rules included, on one core?

What a broker does with one plain batch of 1,000, beside the checksum of the same bytes by the `crc32c` package alone,
which every broker pays at the least. The clients aiokafka and kafka-python have nothing to compare with: only brokers
validate.
"""

from __future__ import annotations

from importlib.metadata import version

from crc32c import crc32c as crc32c_of_the_package
from measure import (
    PAIRS,
    RECORD_COUNT,
    TIMESTAMP_MS,
    Answer,
    implementation_name,
    race,
    tell,
    turn,
)

from quire.records import implementation
from quire.records.batch import encode_pairs, read_header, read_section
from quire.records.checksum import crc32c
from quire.records.validate import Admission, admit_batch, validate_batch

TARGET = 100.0
RULES = Admission(1 << 20, before_max_ms=1000, after_max_ms=1000, needs_keys=True)


def main() -> None:
    batch = encode_pairs(PAIRS, TIMESTAMP_MS)
    section = read_section(batch, 0, read_header(batch))

    def whole() -> object:
        return admit_batch(batch, RULES, TIMESTAMP_MS) or validate_batch(
            batch, now_ms=TIMESTAMP_MS, compacted=True, before_max_ms=1000, after_max_ms=1000
        )

    spent = race(
        {
            "whole": turn(whole),
            "walk": turn(lambda: implementation.scan_records(section, RECORD_COUNT)),
            "checksum": turn(lambda: crc32c(batch)),
            "package": turn(lambda: crc32c_of_the_package(batch)),
        },
        rounds=150,
    )
    whole_spent = spent["whole"]
    millions = RECORD_COUNT / 1e6
    tell(
        Answer(
            best=millions / whole_spent.best,
            median=millions / whole_spent.median,
            unit="M records/s",
            target=TARGET,
            beside={
                f"the checksum alone by crc32c {version('crc32c')}": spent["package"].best
                / whole_spent.best
            },
            remarks=[
                (
                    f"by the {implementation_name()}; a batch takes {whole_spent.best * 1e6:.1f} us: the walk"
                    f" alone {spent['walk'].best * 1e6:.1f}, our checksum alone"
                    f" {spent['checksum'].best * 1e6:.1f}"
                )
            ],
        )
    )


if __name__ == "__main__":
    main()
