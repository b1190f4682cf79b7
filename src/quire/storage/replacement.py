"""Replacing segments by a cleaned one, so that a crash at any moment leaves the old or the new,
never both.

The cleaner has written and flushed `.cleaned` files that carry the base offset of the first segment
they replace. They become `.swap` (from now on the new ones count), the old files become `.deleted`,
the `.swap` files get their final names.

Invariants
  I1  `.swap` is durable before an old file is renamed; old names are gone, durably, before a
      `.swap` file gets a final name. So a start that finds `.swap` finds it complete, and finishes
      the work.
  I2  A `.cleaned` file found at a start was never finished: it goes, and so does every `.swap` file
      at or above it, which belongs to the same unfinished step. So the final names, too, are durable
      before another `.cleaned` file can be written.
  I3  A log that was cut and filled again while the cleaning ran may have segments of the same names.
      They are the same only if their last batch is of the same leader (the log matching property).
Not here   what is written into the cleaned files (storage.cleaner).
See        docs/formats/segment.md
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.ports.disk import Disk
from quire.storage.file_names import (
    CLEANED,
    DELETED,
    LOG,
    SEGMENT_SUFFIXES,
    SWAP,
    SegmentPlace,
    base_offset_of,
    base_offsets,
    file_path,
)
from quire.storage.log_state import LogState
from quire.storage.segment import Segment
from quire.storage.settings import LogSettings


def replace_segments(log: LogState, base_offsets: Sequence[int], *, now_ms: int) -> bool:
    """Put the cleaned files of `base_offsets[0]` in the place of these sealed, neighbouring
    segments.

    False, and nothing has changed, when the log no longer has exactly these: it was truncated, or
    retention was faster. Blocks: flushes the directory four times. On OSError the log is offline,
    and the next start finishes or undoes the step.
    """
    log.fail_if_offline()
    wanted = list(base_offsets)
    first = log.segments.index_for(wanted[0])
    old = log.segments[first : first + len(wanted)]
    if [segment.base_offset for segment in old] != wanted or old[-1] is log.segments.active:
        return False
    place = log.place_of(wanted[0], CLEANED)
    if not log.disk.exists(place.path(LOG)):
        return False
    cleaned = Segment.existing(place, log.settings)
    last_offset = log.segments[first + len(wanted)].base_offset - 1
    if _epoch_at(cleaned, last_offset) != _epoch_at(old[-1], last_offset):  # I3
        cleaned.close()
        return False
    with log.offline_on_error():
        cleaned.rename(SWAP)
        log.disk.flush_directory(log.directory)
        log.remove_segments(old, now_ms=now_ms)
        log.disk.flush_directory(log.directory)
        cleaned.rename("")
        log.disk.flush_directory(log.directory)
    following = log.segments[first + len(wanted) :]
    log.segments.replace_all([*log.segments[:first], cleaned, *following])
    return True


def _epoch_at(segment: Segment, offset: int) -> int | None:
    """The leader epoch of the batch that ends the segment; None when it ends in a gap."""
    found = segment.find(offset)
    return None if found is None else found[1].partition_leader_epoch


def finish_replacements(
    disk: Disk, directory: str, settings: LogSettings, removed: list[str]
) -> None:
    """Finish or undo what a crash interrupted; the files that went are added to `removed`."""
    names = disk.list(directory)
    unfinished = [
        offset for kind in SEGMENT_SUFFIXES for offset in base_offsets(names, kind + CLEANED)
    ]
    doomed = [name for name in names if name.endswith((DELETED, CLEANED))]
    if unfinished:
        lowest = min(unfinished)
        doomed.extend(name for name in names if _swap_offset(name) >= lowest)
    _remove(disk, directory, doomed, removed)
    swaps = base_offsets([name for name in names if name not in set(doomed)], LOG + SWAP)
    for base_offset in swaps:
        _finish_swap(disk, directory, base_offset, settings, removed)
    left = [name for name in disk.list(directory) if _swap_offset(name) >= 0]
    for name in left:
        # An index whose log has its final name already: the last step was under way.
        if disk.exists(file_path(directory, _swap_offset(name), LOG)):
            disk.rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(SWAP)}")
        else:
            _remove(disk, directory, [name], removed)
    if doomed or swaps or left:
        disk.flush_directory(directory)


def _finish_swap(
    disk: Disk, directory: str, base_offset: int, settings: LogSettings, removed: list[str]
) -> None:
    swap = Segment.existing(SegmentPlace(disk, directory, base_offset, SWAP), settings)
    end_offset = max(swap.resume(), base_offset + 1)
    names = disk.list(directory)
    replaced = [
        f"{offset:020d}{kind}"
        for kind in reversed(SEGMENT_SUFFIXES)  # an index may be there whose log has gone already
        for offset in base_offsets(names, kind)
        if base_offset <= offset < end_offset
    ]
    _remove(disk, directory, replaced, removed)
    disk.flush_directory(directory)
    swap.rename("")
    swap.close()


def _remove(disk: Disk, directory: str, names: Sequence[str], removed: list[str]) -> None:
    for name in names:
        disk.remove(f"{directory}/{name}")
        removed.append(f"{directory}/{name}")


def _swap_offset(name: str) -> int:
    """The base offset of a `.swap` file of a segment; -1 for any other name."""
    for kind in SEGMENT_SUFFIXES:
        offset = base_offset_of(name, kind + SWAP)
        if offset is not None:
            return offset
    return -1
