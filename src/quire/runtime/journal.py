"""One line for each transition, on a stream: plain for people, JSON for programs.

    2026-01-31 12:00:00.123  node       node 1                 serves PLAINTEXT=127.0.0.1:9092
    {"time": "2026-01-31T12:00:00.123Z", "room": "node", "subject": "node 1", "text": "serves", ...}

Invariants
  I1  A line is written whole, in one call, and flushed: two threads never mix theirs.
  I2  A stream that broke (a closed pipe) does not stop the node: lines are dropped from then on.
Not here   what is told (whoever tells it).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TextIO

PLAIN = "plain"
JSON = "json"
FORMS = (PLAIN, JSON)


class StreamJournal:
    """See the module."""

    def __init__(self, stream: TextIO, form: str = PLAIN) -> None:
        self._stream: TextIO | None = stream
        self._form = form

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        """Write one line."""
        if self._stream is None:
            return
        now = datetime.now(UTC)
        line = (
            _as_json(now, room, subject, text, facts)
            if self._form == JSON
            else _as_text(now, room, subject, text, facts)
        )
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self._stream = None  # I2


class SilentJournal:
    """For nodes inside of other programs: nobody reads."""

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        """Nothing is kept."""


def _as_text(now: datetime, room: str, subject: str, text: str, facts: dict[str, object]) -> str:
    figures = " ".join(f"{name}={value}" for name, value in facts.items())
    time = now.strftime("%Y-%m-%d %H:%M:%S.") + f"{now.microsecond // 1000:03d}"
    return f"{time}  {room:<10} {subject:<22} {text} {figures}".rstrip().replace("\n", " ")


def _as_json(now: datetime, room: str, subject: str, text: str, facts: dict[str, object]) -> str:
    time = now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
    line = {"time": time, "room": room, "subject": subject, "text": text, **facts}
    return json.dumps(line, default=str)
