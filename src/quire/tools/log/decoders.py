"""What keys and values of records mean: plain payloads, internal topics, the metadata log, control records.

A decoder is told a batch's header and one of its records and adds facts (`key`, `payload`, `control`). The internal
topics carry their own type and version in front of each key and value; a type that is not known is shown as bytes.

Not here   the declarations (protocol.messages), the walk over batches (readers).
See        docs/formats/wire.md, KIP-631, KIP-848, KIP-932.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, TypeAlias

from quire.errors import ProtocolError
from quire.protocol.compiler import codec
from quire.protocol.messages import (
    GROUP_RECORDS,
    MESSAGES,
    METADATA_RECORDS,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
)
from quire.protocol.primitives import read_uvarint
from quire.protocol.schema import declaration_of
from quire.records.batch import BatchHeader
from quire.records.control import ControlType, read_control_type, read_end_transaction_marker
from quire.records.record import Record
from quire.tools.log.facts import Fact, message, payload, record_type, versioned

Decoder: TypeAlias = Callable[[BatchHeader, Record], Fact]

NAMES = ("auto", "none", "offsets", "transactions", "share", "metadata")

METADATA_FRAME_VERSION = 1
CONTROL_VALUES = {
    ControlType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlType.KRAFT_VOTERS: "VotersRecord",
}

_VERSION = Struct(">h")


def by_name(name: str, directory: str, file: str) -> Decoder:
    """The decoder called `name`; auto goes by the partition's directory and the file."""
    if name == "auto":
        topic = directory.rpartition("-")[0]
        name = BY_TOPIC.get(topic, "none")
        if file.endswith(".checkpoint"):
            name = "metadata"
    data = BY_NAME[name]
    return lambda header, record: control(record) if header.is_control else data(record)


def plain(record: Record) -> Fact:
    """A record of a topic that is nobody's but the user's."""
    shown: Fact = {"key": payload(record.key), "payload": payload(record.value)}
    if record.headers:
        shown["headers"] = [[name, payload(content)] for name, content in record.headers]
    return shown


def control(record: Record) -> Fact:
    """A marker, or a record of the quorum."""
    kind = read_control_type(record)
    if kind is None:
        return {"control": {"type": "unknown", "key": payload(record.key)}}
    shown: Fact = {"type": kind.name}
    if kind in CONTROL_VALUES:
        value = record.value or b""
        version = _version_of(value, 0)
        shown |= versioned(codec(MESSAGES[CONTROL_VALUES[kind]], version).decode(value)[0], version)
    else:
        shown["coordinatorEpoch"] = read_end_transaction_marker(record).coordinator_epoch
    return {"control": shown}


def _keyed(tables: Mapping[int, tuple[str, str]], record: Record) -> Fact:
    """A record of an internal topic: the key names its type, the value its version."""
    key = record.key or b""
    kind = _version_of(key, 0)
    if kind not in tables:
        return plain(record)
    key_name, value_name = tables[kind]
    shown: Fact = {
        "key": {
            "type": kind,
            "data": message(codec(MESSAGES[key_name], 0).decode_all(key, 2), 0),
        }
    }
    if record.value is None:
        return shown | {"payload": None}
    version = _version_of(record.value, 0)
    value = codec(MESSAGES[value_name], version).decode_all(record.value, 2)
    decoded = versioned(value, version)
    if value_name == "GroupMetadataValue" and value.protocol_type == "consumer":
        for member, plain_member in zip(value.members, decoded["data"]["members"], strict=True):
            plain_member["subscription"] = _consumer("Subscription", member.subscription)
            plain_member["assignment"] = _consumer("Assignment", member.assignment)
    return shown | {"payload": decoded}


def _consumer(what: str, content: bytes) -> Any:
    """What consumers tell each other through their group, opaque to the broker."""
    if not content:
        return None
    cls = MESSAGES[f"ConsumerProtocol{what}"]
    version = min(_version_of(content, 0), declaration_of(cls).highest)
    return message(codec(cls, version).decode(content, 2)[0], version)


def metadata(record: Record) -> Fact:
    """A record of the metadata log: a frame of two numbers, then the record."""
    value = record.value or b""
    try:
        frame, position = read_uvarint(value, 0)
        key, position = read_uvarint(value, position)
        version, position = read_uvarint(value, position)
    except (ValueError, IndexError) as error:
        raise ProtocolError(f"the frame of a metadata record is cut short: {error}") from error
    if frame != METADATA_FRAME_VERSION:
        raise ProtocolError(f"frame version {frame} of a metadata record is not known")
    if key not in METADATA_RECORDS:
        return {"payload": {"type": key, "version": version, "data": payload(value[position:])}}
    cls = MESSAGES[METADATA_RECORDS[key]]
    found = codec(cls, version).decode_all(value, position)
    return {"payload": {"type": record_type(cls), **versioned(found, version)}}


def _version_of(content: bytes, position: int) -> int:
    if len(content) < position + _VERSION.size:
        raise ProtocolError(f"{len(content)} bytes are too few for a version")
    version: int = _VERSION.unpack_from(content, position)[0]
    return version


BY_NAME: dict[str, Callable[[Record], Fact]] = {
    "none": plain,
    "offsets": lambda record: _keyed(GROUP_RECORDS, record),
    "transactions": lambda record: _keyed(TRANSACTION_RECORDS, record),
    "share": lambda record: _keyed(SHARE_RECORDS, record),
    "metadata": metadata,
}
BY_TOPIC = {
    "__consumer_offsets": "offsets",
    "__transaction_state": "transactions",
    "__share_group_state": "share",
    "__cluster_metadata": "metadata",
}
