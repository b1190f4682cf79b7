"""DescribeConfigs: settings as they stand, where each comes from, and what it means.

Topics, groups and subscriptions can be asked of any node; a broker's settings only of itself, and by the empty name
those that are given for all brokers. No keys, null or an empty list, asks for all. Quire has no loggers that could be
turned: a broker's list of them is empty.

Versions   1 synonyms · 3 types and documentation · 4 flexible
Not here   which value counts (config.layers), how it is shown (config.describe).
See        KIP-133, KIP-226, KIP-569
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.config.describe import (
    Described,
    describe_broker,
    describe_client_metrics,
    describe_cluster_default,
    describe_group,
    describe_topic,
)
from quire.controller.configs import node_number
from quire.controller.decision import Refusal
from quire.controller.topics import name_refusal
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from quire.protocol.messages import describe_configs as configs


def handle(broker: Broker, call: Call) -> configs.DescribeConfigsResponse:
    """Answer; see the module."""
    request: configs.DescribeConfigsRequest = call.request
    return configs.DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[_result(broker, one, request) for one in request.resources],
    )


def _result(
    broker: Broker, asked: configs.DescribeConfigsResource, request: configs.DescribeConfigsRequest
) -> configs.DescribeConfigsResult:
    found = _described(broker, asked)
    refusal = found if isinstance(found, Refusal) else None
    return configs.DescribeConfigsResult(
        error_code=refusal.code if refusal else ErrorCode.NONE,
        error_message=(refusal.message if refusal else None) or "",
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
        configs=[] if isinstance(found, Refusal) else [_shown(one, request) for one in found],
    )


def _described(
    broker: Broker, asked: configs.DescribeConfigsResource
) -> Sequence[Described] | Refusal:
    kind, name = asked.resource_type, asked.resource_name
    names = asked.configuration_keys or None
    overrides = broker.image.config(kind, name)
    refusal = _refusal(broker, kind, name)
    if refusal is not None:
        return refusal
    if kind == TOPIC:
        return describe_topic(broker.layers, overrides, names)
    if kind == GROUP:
        return describe_group(broker.layers, overrides, names)
    if kind == CLIENT_METRICS:
        return describe_client_metrics(broker.layers, overrides, names)
    if kind == BROKER_LOGGER:
        return ()
    if not name:
        return describe_cluster_default(broker.layers, names)
    return describe_broker(broker.layers, names)


def _refusal(broker: Broker, kind: int, name: str) -> Refusal | None:
    if kind == TOPIC:
        reason = name_refusal(name)
        if reason is not None:
            return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
        is_there = name in broker.image.topics
        return None if is_there else Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if kind in (GROUP, CLIENT_METRICS):
        return None if name else Refusal(ErrorCode.INVALID_REQUEST, "the name must not be empty")
    if kind not in (BROKER, BROKER_LOGGER):
        return Refusal(ErrorCode.INVALID_REQUEST, f"{kind} is no type of resource")
    if kind == BROKER and not name:
        return None
    number = node_number(name)
    if number == broker.node_id:
        return None
    message = (
        f"{name!r} is no broker's id"
        if number is None
        else f"this is broker {broker.node_id}, not {number}"
    )
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def _shown(
    one: Described, request: configs.DescribeConfigsRequest
) -> configs.DescribeConfigsResourceResult:
    synonyms = one.synonyms if request.include_synonyms else ()
    return configs.DescribeConfigsResourceResult(
        name=one.name,
        value=one.value,
        read_only=one.read_only,
        config_source=one.source,
        is_sensitive=one.sensitive,
        synonyms=[
            configs.DescribeConfigsSynonym(name=given.name, value=given.value, source=given.source)
            for given in synonyms
        ],
        config_type=one.kind,
        documentation=one.documentation if request.include_documentation else None,
    )
