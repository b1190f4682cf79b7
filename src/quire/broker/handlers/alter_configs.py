"""AlterConfigs: all the settings of resources replaced; what is not named goes back to its default.

Versions   2 flexible
Not here   what is decided here and what by the controller (config_changes).
See        KIP-133
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.config_changes import (
    PASSED_ON,
    TWICE,
    broker_refusal,
    named_twice,
    nameless_value,
    unknown_type,
)
from quire.broker.forward import ask, comes_by_controller
from quire.config.alter import replaced
from quire.controller.decision import Refusal
from quire.metadata.image import BROKER, ConfigResource
from quire.protocol.messages import alter_configs as replacing


async def handle(broker: Broker, call: Call) -> replacing.AlterConfigsResponse:
    """Answer; see the module."""
    request: replacing.AlterConfigsRequest = call.request
    keys = [ConfigResource(one.resource_type, one.resource_name) for one in request.resources]
    twice = named_twice(keys)
    answers: list[replacing.AlterConfigsResourceResponse] = []
    rest = []
    for key, one in zip(keys, request.resources, strict=True):
        refusal = TWICE if key in twice else _refusal(broker, call, one)
        if refusal is None:
            rest.append(one)
        else:
            answers.append(_refused(one, refusal))
    if rest:
        passed_on = replacing.AlterConfigsRequest(
            resources=rest, validate_only=request.validate_only
        )
        decided: replacing.AlterConfigsResponse = await ask(broker, call, passed_on)
        answers += decided.responses
    answers.sort(key=lambda one: keys.index(ConfigResource(one.resource_type, one.resource_name)))
    return replacing.AlterConfigsResponse(throttle_time_ms=0, responses=answers)


def _refusal(broker: Broker, call: Call, asked: replacing.AlterConfigsResource) -> Refusal | None:
    """What is wrong with a change, as far as it is seen here; None passes it on."""
    for one in asked.configs:
        if one.value is None:
            return nameless_value(one.name)
    if asked.resource_type not in PASSED_ON:
        return unknown_type(asked.resource_type)
    if asked.resource_type != BROKER or comes_by_controller(broker, call):
        return None
    given = [(one.name, one.value) for one in asked.configs]
    return broker_refusal(broker, asked.resource_name, lambda _current: replaced(given))


def _refused(
    asked: replacing.AlterConfigsResource, refusal: Refusal
) -> replacing.AlterConfigsResourceResponse:
    return replacing.AlterConfigsResourceResponse(
        error_code=refusal.code,
        error_message=refusal.message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )
