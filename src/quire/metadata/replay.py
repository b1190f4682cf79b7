"""The metadata log as it comes, batch by batch, into images; transactions count whole or not at all.

Invariants
  I1  `image` never shows part of a metadata transaction: what follows a Begin is kept aside until
      its End, and forgotten at its Abort.
  I2  `image.offset` is that of the last record that counts; an open transaction holds it back.
Not here   batches and offsets on disk (raft), what to do about a change (node).
See        KIP-868
"""

from __future__ import annotations

from collections.abc import Iterable

from quire.metadata.delta import Delta, MetadataError, Touched
from quire.metadata.image import EMPTY, Image
from quire.metadata.records import Message
from quire.protocol.messages.metadata_records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


class Replay:
    """An image that follows a log."""

    __slots__ = ("_held", "image")

    def __init__(self, image: Image = EMPTY, *, in_transaction: bool = False) -> None:
        """`in_transaction`: one is open whose records nobody will need, for it can only be aborted."""
        self.image = image
        self._held: list[Message] | None = [] if in_transaction else None
        """The records of the open transaction; None when none is open."""

    @property
    def in_transaction(self) -> bool:
        return self._held is not None

    def load(self, messages: Iterable[Message], *, last_offset: int, quorum_epoch: int) -> Touched:
        """Take in the records of one or more batches, the last record at `last_offset`."""
        delta = Delta(self.image)
        for message in messages:
            self._take(delta, message)
        touched = delta.touched
        if self._held is None:
            self.image = delta.apply(last_offset, quorum_epoch)
        elif touched != Touched():
            self.image = delta.apply(self.image.offset, self.image.quorum_epoch)
        return touched

    def _take(self, delta: Delta, message: Message) -> None:
        if isinstance(message, BeginTransactionRecord):
            if self._held is not None:
                raise MetadataError("a metadata transaction begins within another")
            self._held = []
        elif isinstance(message, EndTransactionRecord):
            for held in self._close("ends"):
                delta.replay(held)
        elif isinstance(message, AbortTransactionRecord):
            self._close("is aborted")
        elif self._held is not None:
            self._held.append(message)
        else:
            delta.replay(message)

    def _close(self, how: str) -> list[Message]:
        if self._held is None:
            raise MetadataError(f"a metadata transaction {how} that never began")
        held, self._held = self._held, None
        return held
