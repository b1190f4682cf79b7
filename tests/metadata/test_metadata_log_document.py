"""The example and the tables in docs/formats/metadata-log.md are what the room reads and writes."""

from __future__ import annotations

import re
from pathlib import Path

from quire.metadata.records import CLASSES, MetadataRecord, decode_value, encode_value
from quire.protocol.messages.metadata_records import FeatureLevelRecord
from quire.protocol.schema import declaration_of

DOCUMENT = (Path(__file__).parents[2] / "docs" / "formats" / "metadata-log.md").read_text()


def test_the_example_is_what_we_write_and_read():
    found = re.search(r"```hex\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    value = b"".join(
        bytes.fromhex(line.split("  ")[0]) for line in found.group(1).strip().splitlines()
    )
    record = MetadataRecord(FeatureLevelRecord(name="metadata.version", feature_level=30), 0)
    assert encode_value(record) == value
    assert decode_value(value) == record


def test_the_table_names_every_record():
    table = DOCUMENT[DOCUMENT.index("| type |") : DOCUMENT.index("| record | version |")]
    numbers = {
        int(number)
        for number in re.findall(r"\| ([\d, ]+) \|", table)
        for number in number.split(",")
    }
    assert numbers == set(CLASSES)
    for cls in (CLASSES[0], CLASSES[3], CLASSES[5], CLASSES[17]):
        declared = declaration_of(cls)
        assert f"{declared.name.removesuffix('Record')}, v0 to {declared.highest}" in table
