"""Topics come, grow and go.

Invariants
  I1  A topic id is drawn anew for every topic and never used again; ids that mean something else,
      or whose text would begin with a dash, are drawn again.
  I2  A new partition's in-sync set is its active replicas, and the first of them leads.
  I3  Two topics whose names differ only in `.` and `_` do not exist together.
Not here   where replicas go (metadata.placement), what settings may be (ConfigRules).
See        KIP-4, KIP-195, KIP-464, KIP-516, KIP-525
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.errors import ErrorCode
from quire.metadata.features import DIRECTORIES_LEVEL
from quire.metadata.image import TOPIC, ConfigResource, Topic
from quire.metadata.placement import PlacementError, UsableBroker, place
from quire.metadata.records import Message
from quire.ports.entropy import Entropy
from quire.protocol.messages import create_partitions as growing
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import metadata_records as records
from quire.protocol.schema import ZERO_UUID

NAME_LENGTH_MAX: Final = 249
METADATA_TOPIC: Final = "__cluster_metadata"
MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"

_NAME: Final = re.compile(r"[a-zA-Z0-9._-]+")
_DASH: Final = 62
"""What the first six bits of an id are when its text begins with a dash."""
_RESERVED_BELOW: Final = 100

Replicas = list[list[int]]
"""Of each partition, by its place among the new ones."""


def name_refusal(name: str) -> str | None:
    """Why a topic cannot be called this."""
    if not name:
        return "Topic name is invalid: the empty string is not allowed"
    if name in (".", ".."):
        return f"Topic name is invalid: '{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return (
            f"Topic name is invalid: the length of '{name}' is longer than the max allowed "
            f"length {NAME_LENGTH_MAX}"
        )
    if not _NAME.fullmatch(name):
        return (
            f"Topic name is invalid: '{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


# --- creation --------------------------------------------------------------------------------


def create(turn: Turn, request: creating.CreateTopicsRequest) -> Decision:
    """Make topics: each by itself, all records in one batch."""
    counted = Counter(topic.name for topic in request.topics)
    taken = {name.replace(".", "_"): name for name in turn.image.topics}
    messages: list[Message] = []
    results = []
    for name in counted:
        asked = next(topic for topic in request.topics if topic.name == name)
        refusal = _name_error(turn, name, counted[name], taken)
        made = refusal or _new_topic(turn, asked)
        if isinstance(made, Refusal):
            results.append(_not_created(name, made))
            continue
        taken[name.replace(".", "_")] = name
        new, result = made
        messages.extend(new)
        results.append(result)
    if len(messages) > turn.settings.records_per_operation_max:
        too_many = Refusal(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )
        messages = []
        results = [_not_created(name, too_many) for name in counted]
    response = creating.CreateTopicsResponse(throttle_time_ms=0, topics=results)
    return Decision(() if request.validate_only else turn.records(messages), response)


def _not_created(name: str, refusal: Refusal) -> creating.CreatableTopicResult:
    return creating.CreatableTopicResult(
        name=name, error_code=refusal.code, error_message=refusal.message or refusal.code.text
    )


def _name_error(turn: Turn, name: str, times: int, taken: dict[str, str]) -> Refusal | None:
    if times > 1:
        return Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if name == METADATA_TOPIC:
        return Refusal(
            ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
        )
    if name in turn.image.topics:
        return Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    refused = name_refusal(name)
    if refused is not None:
        return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, refused)
    other = taken.get(name.replace(".", "_"))
    if other is not None:
        return Refusal(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {other}",
        )
    return None


def _new_topic(
    turn: Turn, asked: creating.CreatableTopic
) -> tuple[list[Message], creating.CreatableTopicResult] | Refusal:
    settings = _settings(turn, asked)
    if isinstance(settings, Refusal):
        return settings
    replicas = _assigned(turn, asked) if asked.assignments else _placed(turn, asked)
    if isinstance(replicas, Refusal):
        return replicas
    topic_id = new_id(turn.entropy)
    partitions = _partitions(turn, topic_id, 0, replicas)
    if isinstance(partitions, Refusal):
        return partitions
    messages: list[Message] = [records.TopicRecord(name=asked.name, topic_id=topic_id)]
    messages += [
        records.ConfigRecord(resource_type=TOPIC, resource_name=asked.name, name=name, value=value)
        for name, value in settings.items()
    ]
    if MIN_INSYNC_REPLICAS in settings and turn.image.has_elr:
        messages.append(records.ClearElrRecord(topic_name=asked.name))
    result = creating.CreatableTopicResult(
        name=asked.name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]),
        configs=turn.rules.describe_topic(settings),
    )
    return [*messages, *partitions], result


def _settings(turn: Turn, asked: creating.CreatableTopic) -> dict[str, str] | Refusal:
    settings = {}
    for one in asked.configs:
        if one.value is None:
            return Refusal(
                ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {one.name}"
            )
        settings[one.name] = one.value
    resource = ConfigResource(TOPIC, asked.name)
    return (turn.rules.refusal(resource, {}, settings) if settings else None) or settings


def new_id(entropy: Entropy) -> bytes:
    """A fresh random id, version 4 (topics I1)."""
    while True:
        drawn = bytearray(entropy.bytes(16))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        found = bytes(drawn)
        if found[0] >> 2 != _DASH and int.from_bytes(found) >= _RESERVED_BELOW:
            return found


def _placed(turn: Turn, asked: creating.CreatableTopic) -> Replicas | Refusal:
    partitions, factor = asked.num_partitions, asked.replication_factor
    if partitions == 0 or partitions < -1:
        return Refusal(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if factor == 0 or factor < -1:
        return Refusal(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    partitions = turn.settings.num_partitions if partitions == -1 else partitions
    factor = turn.settings.default_replication_factor if factor == -1 else factor
    if partitions > turn.settings.records_per_operation_max:
        return Refusal(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )
    return _place(turn, partitions, factor)


def _place(turn: Turn, partitions: int, factor: int) -> Replicas | Refusal:
    usable = [
        UsableBroker(one.broker_id, one.rack, one.fenced) for one in turn.image.brokers.values()
    ]
    try:
        return place(usable, partitions, factor, turn.entropy)
    except PlacementError as failure:
        return Refusal(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): {failure}",
        )


def _assigned(turn: Turn, asked: creating.CreatableTopic) -> Replicas | Refusal:
    if asked.replication_factor != -1:
        return Refusal(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if asked.num_partitions != -1:
        return Refusal(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    by_index = {one.partition_index: one.broker_ids for one in asked.assignments}
    if sorted(by_index) != list(range(len(asked.assignments))):
        return Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    replicas = [list(by_index[index]) for index in range(len(by_index))]
    return _assignment_error(turn, replicas, len(replicas[0])) or replicas


def _assignment_error(turn: Turn, replicas: Replicas, factor: int) -> Refusal | None:
    """Why these brokers cannot hold partitions with this many replicas."""
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    for one in replicas:
        if not one:
            return Refusal(code, "The manual partition assignment includes an empty replica list.")
        if len(set(one)) != len(one):
            twice = next(broker for broker in one if one.count(broker) > 1)
            return Refusal(
                code,
                f"The manual partition assignment includes the broker {twice} more than once.",
            )
        unknown = [broker for broker in one if broker not in turn.image.brokers]
        if unknown:
            return Refusal(
                code,
                f"The manual partition assignment includes broker {unknown[0]}, "
                "but no such broker is registered.",
            )
        if len(one) != factor:
            return Refusal(
                code,
                f"The manual partition assignment includes a partition with {len(one)} "
                f"replica(s), but this is not consistent with previous partitions, which "
                f"have {factor} replica(s).",
            )
    return None


def _partitions(
    turn: Turn, topic_id: bytes, first: int, replicas: Replicas
) -> list[Message] | Refusal:
    """Topics I2."""
    with_directories = turn.image.metadata_version >= DIRECTORIES_LEVEL
    found: list[Message] = []
    for index, one in enumerate(replicas, first):
        isr = [broker for broker in one if turn.is_active(broker)]
        if not isr:
            return Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"All brokers specified in the partition assignment for partition {index} "
                "are fenced or in controlled shutdown.",
            )
        found.append(
            records.PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=one,
                isr=isr,
                removing_replicas=[],
                adding_replicas=[],
                leader=isr[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=[turn.default_directory(broker) for broker in one]
                if with_directories
                else [],
            )
        )
    return found


# --- deletion --------------------------------------------------------------------------------


def delete(turn: Turn, request: deleting.DeleteTopicsRequest) -> Decision:
    """Remove topics, by name or by id."""
    asked: list[tuple[str | None, bytes]] = [(name, ZERO_UUID) for name in request.topic_names]
    asked += [(one.name, one.topic_id) for one in request.topics]
    times = Counter(asked)
    found: list[bytes] = []
    results = []
    for name, topic_id in times:
        topic = _to_delete(turn, name, topic_id, times[name, topic_id])
        if isinstance(topic, Topic) and topic.topic_id in found:
            topic = Refusal(ErrorCode.INVALID_REQUEST, "The topic was named by name and by id.")
        if isinstance(topic, Refusal):
            results.append(
                deleting.DeletableTopicResult(
                    name=name,
                    topic_id=topic_id,
                    error_code=topic.code,
                    error_message=topic.message or topic.code.text,
                )
            )
            continue
        found.append(topic.topic_id)
        results.append(
            deleting.DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_code=0)
        )
    response = deleting.DeleteTopicsResponse(throttle_time_ms=0, responses=results)
    messages = [records.RemoveTopicRecord(topic_id=topic_id) for topic_id in found]
    return Decision(turn.records(messages), response)


def _to_delete(turn: Turn, name: str | None, topic_id: bytes, times: int) -> Topic | Refusal:
    if not turn.settings.delete_topic_enable:
        return Refusal(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
    if times > 1:
        return Refusal(ErrorCode.INVALID_REQUEST, "The topic was named more than once.")
    if name is not None and topic_id != ZERO_UUID:
        return Refusal(
            ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id."
        )
    if name is not None:
        return turn.image.topics.get(name) or Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic_id == ZERO_UUID:
        return Refusal(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
    return turn.image.topic_by_id(topic_id) or Refusal(ErrorCode.UNKNOWN_TOPIC_ID)


# --- more partitions -------------------------------------------------------------------------


def grow(turn: Turn, request: growing.CreatePartitionsRequest) -> Decision:
    """Give topics more partitions."""
    times = Counter(topic.name for topic in request.topics)
    messages: list[Message] = []
    results = []
    for name in times:
        asked = next(topic for topic in request.topics if topic.name == name)
        new: Sequence[Message] | Refusal = (
            Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if times[name] > 1
            else _more_partitions(turn, asked)
        )
        refusal = new if isinstance(new, Refusal) else None
        if not isinstance(new, Refusal):
            messages.extend(new)
        results.append(
            growing.CreatePartitionsTopicResult(
                name=name,
                error_code=refusal.code if refusal else 0,
                error_message=refusal.message if refusal else None,
            )
        )
    response = growing.CreatePartitionsResponse(throttle_time_ms=0, results=results)
    return Decision(() if request.validate_only else turn.records(messages), response)


def _more_partitions(
    turn: Turn, asked: growing.CreatePartitionsTopic
) -> Sequence[Message] | Refusal:
    topic = turn.image.topics.get(asked.name)
    if topic is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    now = len(topic.partitions)
    if asked.count == now:
        return Refusal(ErrorCode.INVALID_PARTITIONS, f"Topic already has {now} partition(s).")
    if asked.count < now:
        return Refusal(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {asked.name} currently has {now} partition(s); {asked.count} would "
            "not be an increase.",
        )
    more = asked.count - now
    if more > turn.settings.records_per_operation_max:
        return Refusal(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )
    factor = len(topic.partitions[min(topic.partitions)].replicas)
    replicas: Replicas | Refusal
    if asked.assignments is None:
        replicas = _place(turn, more, factor)
    elif len(asked.assignments) != more:
        return Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), but only "
            f"{len(asked.assignments)} assignment(s) were specified.",
        )
    else:
        given = [list(one.broker_ids) for one in asked.assignments]
        replicas = _assignment_error(turn, given, factor) or given
    if isinstance(replicas, Refusal):
        return replicas
    return _partitions(turn, topic.topic_id, now, replicas)
