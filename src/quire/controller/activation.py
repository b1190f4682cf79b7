"""The first thing a new active controller writes.

In an empty log: the levels that the cluster was formatted with, within one metadata transaction.
In any other: the end of what its predecessor may have left open, and what ELR must have.

Invariants
  I1  The first data record of a log sets metadata.version, but for the transaction around it.
See        KIP-631, KIP-868, KIP-966
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quire.controller.decision import Turn
from quire.controller.features import elr_settings
from quire.errors import QuireError
from quire.metadata.features import (
    METADATA_VERSION,
    TRANSACTIONS_LEVEL,
    default_levels,
)
from quire.metadata.records import Message, MetadataRecord, versioned
from quire.metadata.replay import Replay
from quire.protocol.messages.metadata_records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
)


class ActivationError(QuireError):
    """The log is not one that a controller can take over."""


def bootstrap_messages() -> list[Message]:
    """What a fresh cluster is formatted with, where nobody chose other levels."""
    return [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in default_levels().items()
    ]


def activate(
    turn: Turn, bootstrap: Sequence[Message], *, in_transaction: bool
) -> tuple[MetadataRecord, ...]:
    """What to write on taking office."""
    if in_transaction:
        aborted = AbortTransactionRecord(reason="A new controller took over")
        if turn.image.features:
            return (turn.record(aborted),)
        return (turn.record(aborted), *_first(turn, bootstrap))
    if not turn.image.features:
        if turn.image.brokers or turn.image.topics:
            raise ActivationError("the metadata log holds records, but no metadata.version")
        return _first(turn, bootstrap)
    return turn.records(elr_settings(turn)) if turn.image.has_elr else ()


def _first(turn: Turn, bootstrap: Sequence[Message]) -> tuple[MetadataRecord, ...]:
    replay = Replay(turn.image)
    replay.load(bootstrap, last_offset=turn.next_offset, quorum_epoch=turn.image.quorum_epoch)
    then = replay.image
    if METADATA_VERSION not in then.features:
        raise ActivationError("the bootstrap records set no metadata.version")
    messages = list(bootstrap)
    if then.has_elr:
        messages += elr_settings(replace(turn, image=then))
    if then.metadata_version >= TRANSACTIONS_LEVEL:
        begin = BeginTransactionRecord(name="Bootstrap records")
        messages = [begin, *messages, EndTransactionRecord()]
    return tuple(
        versioned(message, then.metadata_version, with_elr=then.has_elr) for message in messages
    )
