from __future__ import annotations

import json

from quire.records.record import Record
from quire.tools.consume import json_line, text_line

RECORD = Record(7, 1_700_000_000_123, b"k", b"v\xff", (("h", b"1"), ("n", None)))


def test_a_line_shows_the_value_and_what_else_was_asked_for() -> None:
    assert text_line(2, RECORD, keys=False, places=False) == "v\ufffd"
    assert text_line(2, RECORD, keys=True, places=False) == "k\tv\ufffd"
    line = text_line(2, RECORD, keys=True, places=True)
    assert line == "2:7\t2023-11-14T22:13:20.123+00:00\tk\tv\ufffd"
    assert text_line(0, Record(0, 0, None, None), keys=True, places=False) == "-\t"


def test_a_json_line_has_everything() -> None:
    assert json.loads(json_line("t", 2, RECORD)) == {
        "topic": "t",
        "partition": 2,
        "offset": 7,
        "timestamp": 1_700_000_000_123,
        "key": "k",
        "value": "v\ufffd",
        "headers": {"h": "1", "n": None},
    }
