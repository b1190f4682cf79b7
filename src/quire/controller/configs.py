"""Dynamic settings: set, removed, added to, taken from; each resource by itself.

Invariants
  I1  With ELR the cluster has a min.insync.replicas and no broker has its own: what "eligible"
      means must not differ between brokers.
  I2  Where min.insync.replicas changes, ELR starts over (ClearElr) in the same batch.
Not here   names, types and bounds (ConfigRules); loggers' levels, which never reach the log.
See        KIP-226, KIP-339, KIP-966
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.controller.topics import name_refusal
from quire.errors import ErrorCode
from quire.metadata.image import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    ConfigResource,
)
from quire.metadata.records import Message
from quire.protocol.messages import alter_configs as legacy
from quire.protocol.messages import incremental_alter_configs as incremental
from quire.protocol.messages.metadata_records import ClearElrRecord, ConfigRecord

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


class Operation(IntEnum):
    """What an incremental change does to one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def alter_incrementally(
    turn: Turn, request: incremental.IncrementalAlterConfigsRequest
) -> Decision:
    """Change single settings."""
    times = Counter((one.resource_type, one.resource_name) for one in request.resources)
    messages: list[Message] = []
    responses = []
    for asked in request.resources:
        resource = ConfigResource(asked.resource_type, asked.resource_name)
        if times[resource] > 1:
            outcome: list[Message] | Refusal = _TWICE
        else:
            outcome = _incremental(turn, resource, asked.configs)
        refusal = outcome if isinstance(outcome, Refusal) else None
        if not isinstance(outcome, Refusal):
            messages.extend(outcome)
        responses.append(
            incremental.AlterConfigsResourceResponse(
                error_code=refusal.code if refusal else 0,
                error_message=(refusal.message or refusal.code.text) if refusal else None,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    response = incremental.IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)
    return Decision(() if request.validate_only else turn.records(messages), response)


def alter(turn: Turn, request: legacy.AlterConfigsRequest) -> Decision:
    """Replace all the settings of resources."""
    times = Counter((one.resource_type, one.resource_name) for one in request.resources)
    messages: list[Message] = []
    responses = []
    for asked in request.resources:
        resource = ConfigResource(asked.resource_type, asked.resource_name)
        if times[resource] > 1:
            outcome: list[Message] | Refusal = _TWICE
        else:
            outcome = _replaced(turn, resource, asked.configs)
        refusal = outcome if isinstance(outcome, Refusal) else None
        if not isinstance(outcome, Refusal):
            messages.extend(outcome)
        responses.append(
            legacy.AlterConfigsResourceResponse(
                error_code=refusal.code if refusal else 0,
                error_message=(refusal.message or refusal.code.text) if refusal else None,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    response = legacy.AlterConfigsResponse(throttle_time_ms=0, responses=responses)
    return Decision(() if request.validate_only else turn.records(messages), response)


_TWICE: Final = Refusal(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


def _incremental(
    turn: Turn, resource: ConfigResource, changes: list[incremental.AlterableConfig]
) -> list[Message] | Refusal:
    refusal = _resource_error(turn, resource)
    if refusal is not None:
        return refusal
    if len({one.name for one in changes}) != len(changes):
        return Refusal(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    wanted = dict(turn.image.configs.get(resource, {}))
    for change in changes:
        value = _new_value(turn, resource, change, wanted.get(change.name))
        if isinstance(value, Refusal):
            return value
        if value is None:
            wanted.pop(change.name, None)
        else:
            wanted[change.name] = value
    return _messages(turn, resource, wanted, {one.name for one in changes})


def _new_value(
    turn: Turn,
    resource: ConfigResource,
    change: incremental.AlterableConfig,
    now: str | None,
) -> str | Refusal | None:
    """What a setting becomes; None when it is removed."""
    if change.config_operation not in list(Operation):
        return Refusal(
            ErrorCode.INVALID_REQUEST, f"Unknown operation type {change.config_operation}"
        )
    operation = Operation(change.config_operation)
    if operation is Operation.DELETE:
        return None
    if change.value is None:
        return Refusal(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}")
    if operation is Operation.SET:
        return change.value
    default = turn.rules.list_default(resource.resource_type, change.name)
    if default is None:
        return Refusal(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {change.name} because its type is not LIST.",
        )
    held = _parts(now) if now is not None else list(default)
    given = _parts(change.value)
    if operation is Operation.APPEND:
        return ",".join(dict.fromkeys([*held, *given]))
    return ",".join(one for one in held if one not in given)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _replaced(
    turn: Turn, resource: ConfigResource, settings: list[legacy.AlterableConfig]
) -> list[Message] | Refusal:
    refusal = _resource_error(turn, resource)
    if refusal is not None:
        return refusal
    wanted: dict[str, str] = {}
    for one in settings:
        if one.name in wanted:
            return Refusal(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
        if one.value is None:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {one.name}")
        wanted[one.name] = one.value
    now = turn.image.configs.get(resource, {})
    return _messages(turn, resource, wanted, {*now, *wanted})


def _messages(
    turn: Turn, resource: ConfigResource, wanted: Mapping[str, str], named: set[str]
) -> list[Message] | Refusal:
    """The records from what a resource has to what it shall have."""
    now = turn.image.configs.get(resource, {})
    refusal = _min_insync_error(turn, resource, now, wanted)
    if refusal is not None:
        return refusal
    refusal = turn.rules.refusal(resource, now, wanted)
    if refusal is not None:
        return refusal
    names = [
        *(name for name in now if name in named),
        *(name for name in wanted if name not in now),
    ]
    changed = [name for name in names if now.get(name) != wanted.get(name)]
    messages: list[Message] = [
        ConfigRecord(
            resource_type=resource.resource_type,
            resource_name=resource.name,
            name=name,
            value=wanted.get(name),
        )
        for name in changed
    ]
    if MIN_INSYNC_REPLICAS in changed and turn.image.has_elr:  # configs I2
        topic = resource.name if resource.resource_type == TOPIC else ""
        messages.append(ClearElrRecord(topic_name=topic))
    return messages


def _min_insync_error(
    turn: Turn, resource: ConfigResource, now: Mapping[str, str], wanted: Mapping[str, str]
) -> Refusal | None:
    """Configs I1."""
    if not turn.image.has_elr or resource.resource_type != BROKER:
        return None
    if resource.name:
        if MIN_INSYNC_REPLICAS in wanted and wanted != now:
            return Refusal(
                ErrorCode.INVALID_CONFIG,
                "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
            )
    elif MIN_INSYNC_REPLICAS in now and MIN_INSYNC_REPLICAS not in wanted:
        return Refusal(
            ErrorCode.INVALID_CONFIG,
            "Cluster level min.insync.replicas cannot be removed while ELR is enabled.",
        )
    return None


def _resource_error(turn: Turn, resource: ConfigResource) -> Refusal | None:
    kind, name = resource
    if kind == TOPIC:
        if not name:
            return Refusal(ErrorCode.INVALID_REQUEST, "Default resources are not allowed.")
        reason = name_refusal(name)
        if reason is not None:
            return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
        if name not in turn.image.topics:
            return Refusal(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
            )
        return None
    if kind == BROKER:
        return _node_error(turn, name)
    if kind in (CLIENT_METRICS, GROUP):
        if not name:
            return Refusal(ErrorCode.INVALID_REQUEST, "Default resources are not allowed.")
        return None
    return Refusal(ErrorCode.INVALID_REQUEST, f"Unexpected resource type {kind}.")


def node_number(name: str) -> int | None:
    """The id of a node by the name of a resource; None for what is no number of 32 bits."""
    if re.fullmatch(r"[+-]?[0-9]{1,10}", name, re.ASCII) is None:
        return None
    number = int(name)
    return number if -(2**31) <= number < 2**31 else None


def _node_error(turn: Turn, name: str) -> Refusal | None:
    if not name:
        return None
    number = node_number(name)
    if number is None:
        return Refusal(ErrorCode.INVALID_REQUEST, f"Broker id must be a number, not '{name}'.")
    if number not in turn.image.brokers and number not in turn.image.controllers:
        return Refusal(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {name} found.")
    return None
