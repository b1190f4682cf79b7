from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from quire.runtime.cleaner_worker import FRAME, Pace, ParentGoneError
from quire.storage.cleaner.job import CleaningFailed, CleaningJob
from quire.storage.cleaner.plan import SegmentFacts
from quire.storage.settings import LogSettings


def test_a_worker_stops_when_its_parent_has_gone() -> None:
    with pytest.raises(ParentGoneError):
        Pace(float("inf"), parent=os.getppid() + 1_000_000)(1)


def test_the_pace_holds_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    now = [100.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pace = Pace(bytes_per_second=1000.0, parent=os.getppid())
    for _ in range(10):
        pace(500)
    assert now[0] - 100.0 == pytest.approx(5.0)
    assert sum(slept) == pytest.approx(5.0)


def test_a_long_sleep_ends_when_the_parent_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getppid()
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        monkeypatch.setattr(os, "getppid", lambda: parent + 1)

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(ParentGoneError):
        Pace(bytes_per_second=1.0, parent=parent)(1_000_000)
    assert slept == [1.0]


def test_a_missing_segment_is_a_failure_with_its_path(tmp_path: Path) -> None:
    job = CleaningJob(
        directory=str(tmp_path),
        segments=(SegmentFacts(0, 10, 100, 0, 0, 0, 0),),
        first_dirty_offset=0,
        end_offset=10,
        settings=LogSettings(),
        now_ms=0,
        aborted=(),
        last_of_producers={},
        map_bytes=2400,
        buffer_bytes=4096,
        hash_key=bytes(16),
    )
    with tempfile.TemporaryFile() as file:
        pickle.dump((job, float("inf"), os.getpid()), file)
        file.seek(0)
        done = subprocess.run(
            [sys.executable, "-m", "quire.runtime.cleaner_worker", str(file.fileno())],
            pass_fds=[file.fileno()],
            capture_output=True,
            check=True,
        )
    event = pickle.loads(done.stdout[FRAME.size :])
    assert isinstance(event, CleaningFailed)
    assert str(tmp_path) in event.reason
    assert done.stderr == b""
