"""A cleaning as a value: all that a worker needs to know, and all that it reports. Values can cross processes.

Not here   how a job is found (schedule) and carried out (rewrite).
See        docs/decisions/0007-cleaning-is-a-job.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from quire.storage.cleaner.plan import SegmentFacts
from quire.storage.settings import LogSettings
from quire.storage.transaction_index import AbortedTransaction


class LastOfProducer(NamedTuple):
    """Where an active producer left off; without a data offset its last word was a marker."""

    last_data_offset: int | None
    producer_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningJob:
    """Rewrite `segments` of one log: all of its sealed segments below `end_offset`, oldest first.

    Records from `first_dirty_offset` on are read into an offset map of `map_bytes`, which may fill up before
    `end_offset`; then the cleaning ends where the map ended, and the rest stays dirty.
    """

    directory: str
    segments: tuple[SegmentFacts, ...]
    first_dirty_offset: int
    end_offset: int
    settings: LogSettings
    now_ms: int
    aborted: tuple[AbortedTransaction, ...]
    last_of_producers: dict[int, LastOfProducer]
    map_bytes: int
    buffer_bytes: int
    hash_key: bytes


class CleanedGroup(NamedTuple):
    """One group is written and flushed as `.cleaned` files of its first base offset, ready to be committed."""

    base_offsets: tuple[int, ...]
    """The segments that it replaces; the new one carries the first of these."""
    bytes_before: int
    bytes_after: int


class CleaningDone(NamedTuple):
    """The last word of a cleaning."""

    clean_until_offset: int
    """The new first dirty offset."""
    bytes_read: int
    bytes_before: int
    bytes_after: int
    records_before: int
    records_after: int
    keyless_records: int
    map_utilization: float


class CleaningFailed(NamedTuple):
    """The cleaning ended early; nothing more comes of it."""

    reason: str
