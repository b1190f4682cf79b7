"""runtime.cleanings: the pool's worker on a loop; what a cleaning does is told in test_cleaner_pool."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quire.node.world import CleaningEvent
from quire.records.batch import encode_pairs
from quire.runtime.cleanings import ProcessCleanings
from quire.runtime.disk import RealDisk
from quire.sim.entropy import SeededEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, CleaningJob
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

SETTINGS = LogSettings(cleanup_policy_compact=True, cleanup_policy_delete=False, segment_bytes=4000)


def job_of(directory: Path) -> tuple[Log, CleaningJob]:
    (directory / "t-0").mkdir()
    log = Log.open(
        RealDisk(),
        str(directory / "t-0"),
        SETTINGS,
        now_ms=0,
        last_stop=LastStop(),
        draw_below=lambda _: 0,
    )
    for n in range(300):
        batch = encode_pairs([(b"k%d" % (n % 7), b"value %d" % n)], 1000 + n)
        log.append(batch, leader_epoch=0, now_ms=1000 + n)
    log.update_high_watermark(log.log_end_offset)
    log.roll(now_ms=2000)
    log.flush(now_ms=2000)
    settings = CleanerSettings(dedupe_buffer_bytes=1 << 20)
    schedule = CleanerSchedule(RealDisk(), settings, SeededEntropy(1))
    logs = [CompactedLog(TopicPartition("t", 0), str(directory), log)]
    assignment = schedule.next_assignment(logs, now_ms=2000)
    assert assignment is not None
    return log, assignment.job


def test_events_come_on_the_loop_and_nothing_is_left_after_the_last(tmp_path: Path) -> None:
    async def main() -> None:
        log, job = job_of(tmp_path)
        events: list[CleaningEvent] = []
        ended = asyncio.Event()
        cleanings = ProcessCleanings()

        def on_event(event: CleaningEvent) -> None:
            events.append(event)
            if isinstance(event, CleanedGroup):
                assert log.replace_segments(event.base_offsets, now_ms=2000)
                cleaning.go_on()
            else:
                ended.set()

        cleaning = cleanings.start(job, bytes_per_second=float("inf"), on_event=on_event)
        async with asyncio.timeout(30):
            await ended.wait()
        assert isinstance(events[-1], CleaningDone)
        assert len(events) > 1
        assert cleaning.ended
        cleanings.close()

    asyncio.run(main())


def test_a_cleaning_that_is_given_up_says_no_more(tmp_path: Path) -> None:
    async def main() -> None:
        _log, job = job_of(tmp_path)
        events: list[CleaningEvent] = []
        cleanings = ProcessCleanings()
        cleaning = cleanings.start(job, bytes_per_second=float("inf"), on_event=events.append)
        cleanings.close()
        assert cleaning.ended
        await asyncio.sleep(0.1)
        assert events == []

    asyncio.run(main())


def test_a_cleaning_of_what_is_not_there_fails(tmp_path: Path) -> None:
    async def main() -> None:
        log, job = job_of(tmp_path)
        log.close(now_ms=3000)
        for path in (tmp_path / "t-0").iterdir():
            path.unlink()
        ended: asyncio.Future[CleaningEvent] = asyncio.get_running_loop().create_future()
        cleanings = ProcessCleanings()
        cleanings.start(job, bytes_per_second=float("inf"), on_event=ended.set_result)
        async with asyncio.timeout(30):
            assert isinstance(await ended, CleaningFailed)
        cleanings.close()

    asyncio.run(main())
