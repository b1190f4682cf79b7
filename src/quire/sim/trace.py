"""What happened in a simulated world, one line each: the only log of a run, and its fingerprint.

    time (seconds)  node  room  subject  text  figures

Invariants
  I1  Two runs of the same seed have the same lines; `digest` says so without keeping them.
  I2  Only the last lines are kept; how often each room said something is counted.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque

KEPT_LINES = 400


class Trace:
    """All machines of a world write into one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._began = loop.time()
        self._digest = hashlib.blake2b(digest_size=16)
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.counts: dict[tuple[str, str], int] = {}
        """By room and text."""

    def add(self, who: str, room: str, subject: str, text: str, **facts: object) -> None:
        """One line."""
        self.counts[room, text] = self.counts.get((room, text), 0) + 1
        seconds = self._loop.time() - self._began
        figures = " ".join(f"{name}={value}" for name, value in facts.items())
        line = f"{seconds:10.3f}  {who:<8} {room:<12} {subject:<22} {text} {figures}".rstrip()
        self.lines.append(line)
        self._digest.update(line.encode() + b"\n")

    def digest(self) -> str:
        return self._digest.hexdigest()


class TraceJournal:
    """One machine's door to the trace (see node.world.Journal)."""

    def __init__(self, trace: Trace, who: str) -> None:
        self._trace = trace
        self._who = who

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        self._trace.add(self._who, room, subject, text, **facts)
