"""IncrementalAlterConfigs: single settings set, deleted, added to, taken from; each resource by itself.

Versions   1 flexible
Not here   what is decided here and what by the controller (config_changes).
See        KIP-339
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.config_changes import (
    PASSED_ON,
    TWICE,
    broker_refusal,
    named_twice,
    nameless_value,
    own_number_refusal,
    unknown_type,
)
from quire.broker.forward import ask, comes_by_controller
from quire.config.alter import Alteration, Operation, altered
from quire.config.broker import BrokerSettings
from quire.controller.decision import Refusal
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, BROKER_LOGGER, ConfigResource
from quire.protocol.messages import incremental_alter_configs as changing


async def handle(broker: Broker, call: Call) -> changing.IncrementalAlterConfigsResponse:
    """Answer; see the module."""
    request: changing.IncrementalAlterConfigsRequest = call.request
    keys = [ConfigResource(one.resource_type, one.resource_name) for one in request.resources]
    twice = named_twice(keys)
    answers: list[changing.AlterConfigsResourceResponse] = []
    rest = []
    for key, one in zip(keys, request.resources, strict=True):
        refusal = TWICE if key in twice else _refusal(broker, call, one)
        if refusal is None:
            rest.append(one)
        else:
            answers.append(_refused(one, refusal))
    if rest:
        passed_on = changing.IncrementalAlterConfigsRequest(
            resources=rest, validate_only=request.validate_only
        )
        decided: changing.IncrementalAlterConfigsResponse = await ask(broker, call, passed_on)
        answers += decided.responses
    answers.sort(key=lambda one: keys.index(ConfigResource(one.resource_type, one.resource_name)))
    return changing.IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=answers)


def _refusal(broker: Broker, call: Call, asked: changing.AlterConfigsResource) -> Refusal | None:
    """What is wrong with a change, as far as it is seen here; None passes it on."""
    for one in asked.configs:
        if one.value is None and one.config_operation != Operation.DELETE:
            return nameless_value(one.name)
    if asked.resource_type == BROKER_LOGGER:
        return _of_loggers(broker, asked)
    if asked.resource_type not in PASSED_ON:
        return unknown_type(asked.resource_type)
    if asked.resource_type != BROKER or comes_by_controller(broker, call):
        return None
    if any(one.config_operation not in list(Operation) for one in asked.configs):
        return Refusal(ErrorCode.INVALID_REQUEST, "an operation is not known")
    alterations = [
        Alteration(one.name, Operation(one.config_operation), one.value) for one in asked.configs
    ]
    return broker_refusal(broker, asked.resource_name, partial(_altered, alterations))


def _altered(alterations: Sequence[Alteration], current: Mapping[str, str]) -> dict[str, str]:
    return altered(BrokerSettings, current, alterations)


def _of_loggers(broker: Broker, asked: changing.AlterConfigsResource) -> Refusal:
    refusal = own_number_refusal(broker, asked.resource_name)
    if refusal is not None:
        return refusal
    for one in asked.configs:
        if one.config_operation not in (Operation.SET, Operation.DELETE):
            return Refusal(ErrorCode.INVALID_REQUEST, "a logger's level is set or deleted")
    names = ", ".join(one.name for one in asked.configs)
    return Refusal(ErrorCode.INVALID_CONFIG, f"there is no logger to turn here: {names}")


def _refused(
    asked: changing.AlterConfigsResource, refusal: Refusal
) -> changing.AlterConfigsResourceResponse:
    return changing.AlterConfigsResourceResponse(
        error_code=refusal.code,
        error_message=refusal.message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )
