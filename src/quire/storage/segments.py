"""The segments of one log in the order of their base offsets; the last one is the active one.

Invariants
  I1  There is always an active segment; base offsets ascend strictly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from quire.storage.segment import Segment


class Segments(Sequence[Segment]):
    """A sequence that is also searched by offset."""

    __slots__ = ("_base_offsets", "_segments", "active")

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments: list[Segment] = []
        self._base_offsets: list[int] = []
        self.active: Segment
        self.replace_all(segments)

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> list[Segment]: ...
    def __getitem__(self, index: int | slice) -> Segment | list[Segment]:
        return self._segments[index]

    def index_for(self, offset: int) -> int:
        """The number of the last segment that starts at or below `offset`; 0 when none does."""
        return max(bisect_right(self._base_offsets, offset) - 1, 0)

    def end_offset(self, number: int, log_end_offset: int) -> int:
        """Where segment `number` ends: where the next one starts."""
        following = number + 1
        if following == len(self._base_offsets):
            return log_end_offset
        return self._base_offsets[following]

    def add(self, segment: Segment) -> None:
        """`segment` becomes the active one."""
        assert segment.base_offset > self._base_offsets[-1]  # I1
        self._segments.append(segment)
        self._base_offsets.append(segment.base_offset)
        self.active = segment

    def replace_all(self, segments: Iterable[Segment]) -> None:
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in self._segments]
        assert self._segments  # I1
        assert all(a < b for a, b in zip(self._base_offsets, self._base_offsets[1:], strict=False))
        self.active = self._segments[-1]

    def total_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)
