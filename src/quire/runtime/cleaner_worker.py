"""The process that carries out one cleaning: `python -m quire.runtime.cleaner_worker`, started by cleaner_pool.

It reads a job from an open file whose number it is told, writes events to its standard output, waits for a byte after
each group, and ends. Its memory goes with it.

Invariants
  I1  Nothing is read or written after the parent has gone: a new broker may own the directory by then.
  I2  The last event is a CleaningDone or a CleaningFailed.
See        docs/decisions/0007-cleaning-is-a-job.md.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from struct import Struct
from typing import BinaryIO

from quire.errors import QuireError
from quire.runtime.disk import RealDisk
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, CleaningJob
from quire.storage.cleaner.rewrite import clean

FRAME = Struct(">I")
GO_ON = b"+"
LONGEST_SLEEP_S = 1.0
"""A slow rate must not hide for long that the parent has gone."""


class ParentGoneError(QuireError):
    """The process that asked for this cleaning has ended."""


class Pace:
    """Holds reading and writing below a rate, and stops a process whose parent has gone (I1)."""

    def __init__(self, bytes_per_second: float, parent: int) -> None:
        self._bytes_per_second = bytes_per_second
        self._parent = parent
        self._started = time.monotonic()
        self._bytes = 0

    def __call__(self, size: int) -> None:
        self._check_parent()
        self._bytes += size
        if self._bytes_per_second == float("inf"):
            return
        due = self._started + self._bytes / self._bytes_per_second
        while (ahead := due - time.monotonic()) > 0:
            time.sleep(min(ahead, LONGEST_SLEEP_S))
            self._check_parent()

    def _check_parent(self) -> None:
        if os.getppid() != self._parent:
            raise ParentGoneError("the process that asked for this cleaning has ended")


def send(stream: BinaryIO, event: CleanedGroup | CleaningDone | CleaningFailed) -> None:
    """One event: its length, then its pickle."""
    content = pickle.dumps(event)
    stream.write(FRAME.pack(len(content)) + content)
    stream.flush()


def work(job: CleaningJob, pace: Pace, questions: BinaryIO, answers: BinaryIO) -> None:
    """Clean, and wait after each group until the owner has committed it."""
    try:
        for event in clean(job, RealDisk(), pace):
            send(answers, event)
            if isinstance(event, CleanedGroup) and questions.read(1) != GO_ON:
                return  # the owner has given the cleaning up
    except (QuireError, OSError) as error:
        send(answers, CleaningFailed(str(error)))


def main() -> None:
    """Read (job, bytes per second, parent's pid) from the open file that is named, and work."""
    with open(int(sys.argv[1]), "rb") as file:
        job, bytes_per_second, parent = pickle.load(file)  # noqa: S301 -- from our own parent
    work(job, Pace(bytes_per_second, parent), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
