from __future__ import annotations

import io
import json
import re

from quire.runtime.journal import JSON, SilentJournal, StreamJournal


def test_a_plain_line_has_columns_and_figures() -> None:
    stream = io.StringIO()
    StreamJournal(stream).say("raft", "quorum", "leads", epoch=3, voters=1)
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  raft +quorum +leads epoch=3 voters=1\n",
        stream.getvalue(),
    )


def test_a_line_of_json_is_one_object() -> None:
    stream = io.StringIO()
    StreamJournal(stream, JSON).say("log", "t-0", "let go\nmore", bytes=12, error=OSError("x"))
    found = json.loads(stream.getvalue())
    assert stream.getvalue().count("\n") == 1
    assert found.pop("time").endswith("Z")
    assert found == {
        "room": "log",
        "subject": "t-0",
        "text": "let go\nmore",
        "bytes": 12,
        "error": "x",
    }


def test_a_broken_stream_is_given_up_and_silence_is_silent() -> None:
    class Broken(io.StringIO):
        writes = 0

        def write(self, _text: str) -> int:
            self.writes += 1
            raise BrokenPipeError

    stream = Broken()
    journal = StreamJournal(stream)
    journal.say("node", "", "one")
    journal.say("node", "", "two")
    assert stream.writes == 1
    SilentJournal().say("node", "", "three")
