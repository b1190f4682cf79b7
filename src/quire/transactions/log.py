"""A transaction as the topic of transactions keeps it: byte for byte what Apache Kafka 4.3 writes.

The key is the transactional id. The value's version follows from the cluster's transaction.version: 0 before it was
finalized, 1 from then on. No value: the id is forgotten.

Invariants
  I1  Reading what was written gives the same transaction, but for what version 0 has no place for.
  I2  A key of a type that we do not know is passed over; a value that cannot be read is an error.
See        docs/formats/transaction-state.md, KIP-98, KIP-890
"""

from __future__ import annotations

from itertools import groupby
from struct import Struct
from typing import Final

from quire.coordination import KeyValue
from quire.errors import ProtocolError
from quire.protocol.compiler import codec
from quire.protocol.messages.transaction_state import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from quire.transactions.states import State
from quire.transactions.transaction import Transaction
from quire.types import TopicPartition

KEY_TYPE: Final = 0
FLEXIBLE_VALUE_VERSION: Final = 1
FLEXIBLE_SINCE: Final = 1
"""The transaction.version from which values are written in version 1."""
_NUMBER: Final = Struct(">h")


def key_of(transactional_id: str) -> bytes:
    key = TransactionLogKey(transactional_id=transactional_id)
    return _NUMBER.pack(KEY_TYPE) + codec(TransactionLogKey, KEY_TYPE).encode(key)


def written(transactional_id: str, one: Transaction, *, transaction_version: int) -> KeyValue:
    """The record of a change."""
    version = FLEXIBLE_VALUE_VERSION if transaction_version >= FLEXIBLE_SINCE else 0
    is_flexible = version >= FLEXIBLE_VALUE_VERSION
    value = TransactionLogValue(
        producer_id=one.producer_id,
        previous_producer_id=one.previous_producer_id if is_flexible else -1,
        next_producer_id=one.next_producer_id if is_flexible else -1,
        producer_epoch=one.epoch,
        transaction_timeout_ms=one.timeout_ms,
        transaction_status=one.state,
        transaction_partitions=None if one.state is State.EMPTY else _by_topic(one.partitions),
        transaction_last_update_timestamp_ms=one.updated_ms,
        transaction_start_timestamp_ms=one.started_ms,
        client_transaction_version=one.client_version if is_flexible else 0,
    )
    encoded = codec(TransactionLogValue, version).encode(value)
    return KeyValue(key_of(transactional_id), _NUMBER.pack(version) + encoded)


def forgotten(transactional_id: str) -> KeyValue:
    """The record that takes an id away."""
    return KeyValue(key_of(transactional_id), None)


def read_key(key: bytes) -> str | None:
    """The transactional id; None for a key of another type (I2)."""
    if len(key) < _NUMBER.size or _NUMBER.unpack_from(key)[0] != KEY_TYPE:
        return None
    decoded, _ = codec(TransactionLogKey, KEY_TYPE).decode(key, _NUMBER.size)
    return decoded.transactional_id


def read_value(value: bytes) -> Transaction:
    """What a value says; ProtocolError when it cannot be read."""
    if len(value) < _NUMBER.size:
        raise ProtocolError("a value without a version", where="TransactionLogValue", position=0)
    version = min(_NUMBER.unpack_from(value)[0], FLEXIBLE_VALUE_VERSION)
    one, _ = codec(TransactionLogValue, version).decode(value, _NUMBER.size)
    try:
        state = State(one.transaction_status)
    except ValueError:
        raise ProtocolError(
            f"there is no state {one.transaction_status}", where="TransactionLogValue", position=0
        ) from None
    return Transaction(
        producer_id=one.producer_id,
        epoch=one.producer_epoch,
        timeout_ms=one.transaction_timeout_ms,
        state=state,
        partitions=tuple(
            sorted(
                TopicPartition(topic.topic, index)
                for topic in one.transaction_partitions or ()
                for index in topic.partition_ids
            )
        ),
        started_ms=one.transaction_start_timestamp_ms,
        updated_ms=one.transaction_last_update_timestamp_ms,
        previous_producer_id=one.previous_producer_id,
        next_producer_id=one.next_producer_id,
        client_version=one.client_transaction_version,
    )


def _by_topic(partitions: tuple[TopicPartition, ...]) -> list[PartitionsSchema]:
    return [
        PartitionsSchema(topic=topic, partition_ids=[one.partition for one in group])
        for topic, group in groupby(partitions, key=lambda one: one.topic)
    ]
