"""The values of the metadata log: a small frame around one declared record.

A value is uvarint frame version (1), uvarint type, uvarint version, then the record in its
flexible form. Which version of a record may be written follows from the cluster's feature levels.

Invariants
  I1  Whatever bytes come in, `decode_value` gives a record or raises ProtocolError.
  I2  Decoding what was encoded gives an equal record at the same version.
  I3  A record is written at the lowest version that carries what it says and the levels allow.
Not here   batches around the values (records), control records (raft).
See        docs/formats/metadata-log.md, KIP-631, KIP-778
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from quire.errors import ProtocolError
from quire.protocol.compiler import codec
from quire.protocol.messages import metadata_records
from quire.protocol.messages.metadata_records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from quire.protocol.primitives import Malformed, read_uvarint, write_uvarint
from quire.protocol.schema import Bytes, declaration_of

FRAME_VERSION: Final = 1

Message = Any
"""Any of the record classes that metadata_records declares."""

_LOG_DIRECTORIES: Final = 17
_CORDONED_DIRECTORIES: Final = 30


def _by_key() -> dict[int, type]:
    classes = [
        found
        for found in vars(metadata_records).values()
        if isinstance(found, type) and hasattr(found, "__quire_message__")
    ]
    return {key: cls for cls in classes if (key := declaration_of(cls).key) is not None}


CLASSES: Final[dict[int, type]] = _by_key()
"""Every record of the metadata log, by its type."""


class MetadataRecord(NamedTuple):
    """A record and the version it is written in."""

    message: Message
    version: int


def encode_value(record: MetadataRecord) -> bytes:
    """The value of a record in the metadata log (its key is null)."""
    declared = declaration_of(type(record.message))
    assert declared.key is not None
    head = bytes([FRAME_VERSION]) + write_uvarint(declared.key) + write_uvarint(record.version)
    return head + codec(type(record.message), record.version).encode(record.message)


def decode_value(value: Bytes) -> MetadataRecord:
    """The record in a value of the metadata log."""
    position = 0
    numbers = []
    for what in ("frame version", "type", "version"):
        try:
            number, position = read_uvarint(value, position)
        except (Malformed, IndexError) as failure:
            raise ProtocolError(
                f"{what} cannot be read", where="metadata record", position=position
            ) from failure
        numbers.append(number)
    frame, key, version = numbers
    if frame != FRAME_VERSION:
        raise ProtocolError(f"frame version {frame}, not 1", where="metadata record", position=0)
    cls = CLASSES.get(key)
    if cls is None:
        raise ProtocolError(f"no record has type {key}", where="metadata record", position=1)
    return MetadataRecord(codec(cls, version).decode_all(value, position), version)


def versioned(message: Message, metadata_version: int, *, with_elr: bool = False) -> MetadataRecord:
    """The record at the version that these feature levels call for."""
    return MetadataRecord(message, version_of(message, metadata_version, with_elr=with_elr))


def version_of(message: Message, metadata_version: int, *, with_elr: bool = False) -> int:
    """Which version of this record is written at a metadata.version, with ELR on or off."""
    if isinstance(message, RegisterBrokerRecord):
        return register_broker_version(metadata_version)
    if isinstance(message, BrokerRegistrationChangeRecord):
        return _registration_change_version(message)
    if isinstance(message, PartitionRecord | PartitionChangeRecord):
        if with_elr:
            return 2
        return 1 if metadata_version >= _LOG_DIRECTORIES else 0
    return 0


def register_broker_version(metadata_version: int) -> int:
    """Registrations grow with the levels, whatever they say."""
    steps = ((_CORDONED_DIRECTORIES, 4), (_LOG_DIRECTORIES, 3), (8, 2), (7, 1))
    return next((version for level, version in steps if metadata_version >= level), 0)


def _registration_change_version(message: BrokerRegistrationChangeRecord) -> int:
    if message.cordoned_log_dirs is not None:
        return 3
    if message.log_dirs:
        return 2
    return 1 if message.in_controlled_shutdown else 0
