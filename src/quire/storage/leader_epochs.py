"""Where each leader's reign over a log began: the history that truncation and fencing ask.

Changes are made in memory and become durable with `save`, which the caller may hand to another
thread's turn: every batch carries its epoch too, so an unclean start finds the history again.

Invariants
  I1  Epochs and start offsets both rise from entry to entry.
  I2  The file holds what memory held at the last save that did not fail; `is_dirty` says whether
      memory has moved on since.
Not here   who leads (the controller says it), what a follower does about a divergence.
See        docs/formats/checkpoints.md, KIP-101, KIP-320, KIP-595
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.storage.checkpoints import read_rows, whole_number, write_rows

UNKNOWN = -1
"""Stands for an epoch or an offset that this history cannot tell."""


class EpochStart(NamedTuple):
    """One leader's reign: its first offset (the log end offset when it took office)."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """How far the records of one epoch go (exclusive); both -1 when that is not known."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """The epochs of one log, oldest first."""

    __slots__ = ("_disk", "_entries", "_path", "_version", "_version_saved", "latest_epoch")

    def __init__(self, disk: Disk, path: str, entries: Iterable[EpochStart] = ()) -> None:
        self._disk = disk
        self._path = path
        self._entries: list[EpochStart] = []
        self._version = 0
        self._version_saved = 0
        self.latest_epoch = UNKNOWN
        for entry in entries:
            self.assign(entry.epoch, entry.start_offset)

    @classmethod
    def load(cls, disk: Disk, path: str) -> LeaderEpochs:
        """Read the file; a file that is not there holds no epoch. CorruptFileError when broken."""
        entries: list[EpochStart] = []
        for number, (epoch, start_offset) in enumerate(read_rows(disk, path, 2), 3):
            entry = EpochStart(
                whole_number(epoch, path, number), whole_number(start_offset, path, number)
            )
            if entries and not (
                entries[-1].epoch < entry.epoch and entries[-1].start_offset < entry.start_offset
            ):
                raise CorruptFileError(path, f"line {number}: does not come after the one before")
            entries.append(entry)
        loaded = cls(disk, path, entries)
        loaded._version_saved = loaded._version
        return loaded

    @property
    def entries(self) -> tuple[EpochStart, ...]:
        return tuple(self._entries)

    @property
    def latest(self) -> EpochStart | None:
        return self._entries[-1] if self._entries else None

    @property
    def is_dirty(self) -> bool:
        """Whether `save` has anything to do."""
        return self._version != self._version_saved

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Let `epoch` begin at `start_offset`; whether this was news.

        Entries that contradict it (as new or newer, or beginning as far or further) are dropped.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch {epoch} cannot start at offset {start_offset}")
        if epoch == self.latest_epoch and start_offset >= self._entries[-1].start_offset:
            return False
        while self._entries and (
            self._entries[-1].epoch >= epoch or self._entries[-1].start_offset >= start_offset
        ):
            self._entries.pop()
        self._entries.append(EpochStart(epoch, start_offset))
        self._changed()
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """The largest epoch not above `epoch`, and where it ends.

        An epoch before the history ends where the history begins; of one after it nothing is known.
        """
        if epoch == UNKNOWN or epoch > self.latest_epoch or not self._entries:
            return EpochEnd(UNKNOWN, UNKNOWN)
        index = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
        if index == len(self._entries):
            return EpochEnd(self.latest_epoch, log_end_offset)
        found = self._entries[index - 1].epoch if index else epoch
        return EpochEnd(found, self._entries[index].start_offset)

    def epoch_for(self, offset: int) -> int:
        """The epoch that wrote `offset`; -1 when the history begins later."""
        index = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[index - 1].epoch if index else UNKNOWN

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that begin at or after `end_offset`, where the log ends now."""
        kept = [entry for entry in self._entries if entry.start_offset < end_offset]
        if len(kept) < len(self._entries):
            self._entries = kept
            self._changed()

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget the epochs that end before `start_offset`, where the log begins now."""
        index = bisect_right(self._entries, start_offset, key=lambda entry: entry.start_offset)
        if index == 0:
            return
        first = EpochStart(self._entries[index - 1].epoch, start_offset)
        if self._entries[:index] != [first]:
            self._entries[:index] = [first]
            self._changed()

    def clear(self) -> None:
        """Forget everything: the log starts anew."""
        if self._entries:
            self._entries = []
            self._changed()

    def save(self) -> None:
        """Make what is known now durable, unless it is. On OSError it stays to be saved."""
        if self.is_dirty:
            version = self._version
            entries = tuple(self._entries)  # at once: the log's owner may go on while we write
            rows = [f"{entry.epoch} {entry.start_offset}" for entry in entries]
            write_rows(self._disk, self._path, rows)
            self._version_saved = version

    def _changed(self) -> None:
        self._version += 1
        self.latest_epoch = self._entries[-1].epoch if self._entries else UNKNOWN
