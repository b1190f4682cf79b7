"""The example in docs/formats/consumer-offsets.md is what the room reads and writes."""

from __future__ import annotations

import re
from pathlib import Path

from quire.groups.keys import (
    GROUP_VERSION,
    NEVER,
    OFFSET_VERSION,
    OFFSET_VERSION_EXPIRING,
    offset_key,
    offset_value,
    read_offset_key,
    read_offset_value,
)
from quire.groups.stored_values import Committed

DOCUMENT = (Path(__file__).parents[2] / "docs" / "formats" / "consumer-offsets.md").read_text()


def test_the_example_is_what_we_write_and_read() -> None:
    found = re.search(r"```hex\n(.*)\n(.*)\n```", DOCUMENT)
    assert found is not None
    key, value = (bytes.fromhex(line) for line in found.groups())
    assert read_offset_key(key) == ("g-consumer", "g-plain", 0)
    topic_id = bytes.fromhex("c1c18b6a2a174c21aaff4ea67cd05c4c")
    committed = Committed(10, -1, "meta\0", 1795029582411, NEVER, topic_id, 26)
    assert read_offset_value(value, 26) == committed
    assert (offset_key("g-consumer", "g-plain", 0), offset_value(committed)) == (key, value)


def test_the_versions_are_those_that_are_written() -> None:
    assert f"a position, {OFFSET_VERSION} ({OFFSET_VERSION_EXPIRING} if" in DOCUMENT
    assert f"a classic group, {GROUP_VERSION} |" in DOCUMENT
