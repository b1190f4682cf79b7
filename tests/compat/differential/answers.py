"""Answers as plain values that two systems can be compared by, and where they differ.

What must differ by its nature is shown by its kind: ids that are drawn, ports, epochs of brokers, times, and the words
of error messages and documentation (ours are our own; whether there are any is compared).
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from quire.protocol.schema import Array, Nested, Scalar, Variable, fields_of
from quire.records.batch import HEADER_SIZE, decode_records, iterate_headers
from quire.records.compression import Compression

Shown = Any
WORDS = frozenset({"error_message", "documentation", "batch_index_error_message"})
BY_KIND = frozenset(
    {
        "port",
        "cluster_id",
        "log_dir",
        "finalized_features_epoch",
        "total_bytes",
        "usable_bytes",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "session_id",
        "producer_id",
        "last_timestamp",
        "log_append_time_ms",
    }
)
"""Of these only whether they are negative, zero or positive, empty or not, is compared."""
UNORDERED = {
    "MetadataResponse.topics": "name",
    "MetadataResponseTopic.partitions": "partition_index",
    "DescribeConfigsResult.configs": "name",
    "CreatableTopicResult.configs": "name",
    "DescribeClientQuotasResponse.entries": "entity",
    "AlterClientQuotasResponse.entries": "entity",
    "AlterClientQuotasResponseEntryData.entity": "entity_type",
    "EntryData.entity": "entity_type",
    "EntryData.values": "key",
    "ListConfigResourcesResponse.config_resources": "resource_name",
    "ApiVersionsResponse.api_keys": "api_key",
    "ApiVersionsResponse.supported_features": "name",
    "ApiVersionsResponse.finalized_features": "name",
    "DescribeLogDirsResult.topics": "name",
    "DescribeLogDirsTopic.partitions": "partition_index",
    "AlterReplicaLogDirsResponse.results": "topic_name",
    "DescribeUserScramCredentialsResponse.results": "user",
    "DescribeUserScramCredentialsResult.credential_infos": "mechanism",
    "AlterUserScramCredentialsResponse.results": "user",
    "ListPartitionReassignmentsResponse.topics": "name",
    "CreateTopicsResponse.topics": "name",
    "DeleteTopicsResponse.responses": "name",
    "CreatePartitionsResponse.results": "name",
    "ElectLeadersResponse.replica_election_results": "topic",
    "ReplicaElectionResult.partition_result": "partition_id",
    "IncrementalAlterConfigsResponse.responses": "resource_name",
    "AlterConfigsResponse.responses": "resource_name",
    "DescribeConfigsResponse.results": "resource_name",
    "UpdateFeaturesResponse.results": "feature",
    "ProduceResponse.responses": "name",
    "TopicProduceResponse.partition_responses": "index",
    "DeleteRecordsResponse.topics": "name",
    "DeleteRecordsTopicResult.partitions": "partition_index",
    "ListOffsetsResponse.topics": "name",
    "OffsetForLeaderEpochResponse.topics": "topic",
    "FetchResponse.responses": "topic",
    "DescribeProducersResponse.topics": "name",
    "PartitionResponse.active_producers": "producer_epoch",
    "ListGroupsResponse.groups": "group_id",
    "DescribeGroupsResponse.groups": "group_id",
    "ConsumerGroupDescribeResponse.groups": "group_id",
    "DeleteGroupsResponse.results": "group_id",
    "OffsetCommitResponse.topics": "name",
    "OffsetFetchResponse.topics": "name",
    "OffsetFetchResponseGroup.topics": "name",
    "OffsetFetchResponseTopics.partitions": "partition_index",
    "OffsetFetchResponseTopic.partitions": "partition_index",
}
"""Lists whose order says nothing, and what they are sorted by."""

OPAQUE = frozenset({"subscription_id"})
"""Numbers that mean nothing to anybody else."""
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
NAMES = ("name", "api_key", "partition_index", "index", "topic", "topic_name", "resource_name")
"""Of a list's items, what tells one from the other."""


class Known(NamedTuple):
    """What is known of the system that answers."""

    topic_names: Mapping[bytes, str]
    data: str
    """Where its data is."""


def shown(answer: Any, known: Known) -> Shown:
    """A message as dictionaries, lists and plain values."""
    return answer if isinstance(answer, str) else _structure(answer, known)


def _structure(value: Any, known: Known) -> Shown:
    if value is None:
        return None
    found: dict[str, Shown] = {}
    for one in fields_of(type(value)):
        held = _value(one.name, one.type, getattr(value, one.name), known)
        by = UNORDERED.get(f"{type(value).__name__}.{one.name}")
        if by is not None and held is not None:
            held = sorted(held, key=lambda item, by=by: (str(item[by]), str(item)))
        found[one.name] = held
    return found


def _value(name: str, wire_type: Any, value: Any, known: Known) -> Shown:
    if value is None:
        return None
    if name in WORDS:
        return "<words>" if value else value
    if name in BY_KIND:
        return _kind(name, value)
    if name in OPAQUE:
        return f"<{name}>"
    if isinstance(value, str):
        return _ADDRESS.sub("127.0.0.1:<port>", value).replace(known.data, "<data>")
    if isinstance(wire_type, Array):
        return [_value("", wire_type.element, one, known) for one in value]
    if isinstance(wire_type, Nested):
        return _structure(value, known)
    if isinstance(wire_type, Variable) and wire_type.name == "records":
        return _batches(bytes(value))
    if isinstance(wire_type, Scalar) and wire_type.name == "uuid":
        return _id(bytes(value), known)
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value


def _kind(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"<{name}>" if value else ""
    return f"<{name} {'below' if value < 0 else 'above' if value else ''} zero>"


def _id(value: bytes, known: Known) -> str:
    if value in known.topic_names:
        return f"<id of {known.topic_names[value]}>"
    return "<id>" if value[0] or value[-1] > 15 else value.hex()


@functools.cache
def _batches(value: bytes) -> list[Shown]:
    """What each batch says of itself; its records by a digest, unpacked where they are packed."""
    found = []
    for position, header in iterate_headers(value):
        said = header._asdict()
        if header.is_log_append_time:
            for key in ("base_timestamp", "max_timestamp", "crc"):
                said.pop(key, None)
        if header.producer_id > 0:
            said["producer_id"] = "<producer id>"
            said.pop("crc", None)
        if header.compression is Compression.NONE:
            body = value[position + HEADER_SIZE : position + header.size]
        else:
            for key in ("batch_length", "crc"):
                said.pop(key, None)
            records = decode_records(value, position, header)
            if header.is_log_append_time:
                records = [one._replace(timestamp=0) for one in records]
            body = repr(records).encode()
        found.append({**said, "body": hashlib.sha256(body).hexdigest()[:16]})
    return found


def differences(left: Shown, right: Shown, path: str = "") -> Iterator[tuple[str, str, str]]:
    """(where, left, right) for each smallest part in which two answers differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left.keys() | right.keys():
            where = f"{path}.{key}" if path else str(key)
            if key not in left or key not in right:
                yield where, str(left.get(key, "nothing")), str(right.get(key, "nothing"))
            else:
                yield from differences(left[key], right[key], where)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _list_differences(left, right, path)
    elif left != right:
        yield path, str(left), str(right)


def _list_differences(
    left: list[Shown], right: list[Shown], path: str
) -> Iterator[tuple[str, str, str]]:
    mine, theirs = _by_name(left), _by_name(right)
    for key in dict.fromkeys([*mine, *theirs]):
        where = f"{path}[{key}]"
        if key not in mine or key not in theirs:
            yield where, str(mine.get(key, "nothing")), str(theirs.get(key, "nothing"))
        else:
            yield from differences(mine[key], theirs[key], where)


def _by_name(items: list[Shown]) -> dict[str, Shown]:
    """Items under what they call themselves, so that one too many does not shift all others."""
    found: dict[str, Shown] = {}
    for index, item in enumerate(items):
        called = (
            next((item[one] for one in NAMES if one in item), index)
            if isinstance(item, dict)
            else index
        )
        key = str(index) if str(called) in found else str(called)
        found[key] = item
    return found
