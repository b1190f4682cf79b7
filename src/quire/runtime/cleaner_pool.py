"""Processes that clean logs, one for each cleaning, watched through a pipe without ever blocking the caller.

The owner of the logs starts a cleaning, waits for its pipe to be readable (a loop's reader, or `poll` with a timeout),
commits each group and lets it go on.

Invariants
  I1  At most `processes` cleanings run at once.
  I2  A worker that ends without a last word counts as failed; none is left behind by `close`.
Not here   what a cleaning does (storage.cleaner), which log is next (storage.cleaner.schedule).
See        docs/decisions/0007-cleaning-is-a-job.md.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Self, TypeAlias

from quire.runtime.cleaner_worker import FRAME, GO_ON
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, CleaningJob

Event: TypeAlias = CleanedGroup | CleaningDone | CleaningFailed

READ_BYTES = 65536


class CleaningWorker:
    """One cleaning that runs in another process."""

    def __init__(self, job: CleaningJob, bytes_per_second: float) -> None:
        with tempfile.TemporaryFile() as file:  # a pipe would make us wait for the other's start
            pickle.dump((job, bytes_per_second, os.getpid()), file)
            file.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 -- our own module
                [sys.executable, "-m", "quire.runtime.cleaner_worker", str(file.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                pass_fds=[file.fileno()],
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions = self._process.stdin
        self._events = self._process.stdout
        self._received = bytearray()
        self.ended = False

    def fileno(self) -> int:
        """Readable when an event may be there."""
        return self._events.fileno()

    def poll(self, timeout_s: float = 0.0) -> Event | None:
        """The next event, waiting up to `timeout_s` for it; None when there is none yet."""
        while not self.ended:
            event = self._next_received()
            if event is not None:
                return event
            readable, _, _ = select.select([self._events], [], [], timeout_s)
            if not readable:
                return None
            content = os.read(self._events.fileno(), READ_BYTES)
            if not content:
                code = self._process.wait()
                self._end()
                return CleaningFailed(f"the cleaning process ended with exit code {code}")
            self._received += content
        return None

    def go_on(self) -> None:
        """The last group is committed."""
        try:
            self._questions.write(GO_ON)
        except BrokenPipeError:
            return  # it died; the next poll says so

    def stop(self) -> None:
        """Give the cleaning up; what it wrote is removed when its log is cleaned or opened again."""
        if not self.ended:
            self._process.kill()
            self._process.wait()
            self._end()

    def _next_received(self) -> Event | None:
        if len(self._received) < FRAME.size:
            return None
        size = FRAME.unpack_from(self._received)[0]
        end = FRAME.size + size
        if len(self._received) < end:
            return None
        event: Event = pickle.loads(self._received[FRAME.size : end])  # noqa: S301 -- from our own child
        del self._received[:end]
        if not isinstance(event, CleanedGroup):
            self._process.wait()
            self._end()
        return event

    def _end(self) -> None:
        self.ended = True
        self._questions.close()
        self._events.close()


class CleanerPool:
    """As many cleanings at once as there may be."""

    def __init__(
        self, *, processes: int = 1, io_max_bytes_per_second: float = float("inf")
    ) -> None:
        self._processes = processes
        self._bytes_per_second = io_max_bytes_per_second / max(1, processes)
        self._workers: list[CleaningWorker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def has_room(self) -> bool:
        """Whether another cleaning may start (I1)."""
        self._workers = [worker for worker in self._workers if not worker.ended]
        return len(self._workers) < self._processes

    def start(self, job: CleaningJob) -> CleaningWorker:
        """Begin a cleaning."""
        assert self.has_room  # I1
        worker = CleaningWorker(job, self._bytes_per_second)
        self._workers.append(worker)
        return worker

    def close(self) -> None:
        """Give every cleaning up (I2)."""
        for worker in self._workers:
            worker.stop()
        self._workers = []
