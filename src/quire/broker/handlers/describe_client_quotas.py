"""DescribeClientQuotas: the stored limits that a filter finds.

A filter names types of entities; each may be matched by an exact name, by the default, or by any. An entity is found
when it has a matching part for each; strictly, when it has no other. Strictly nothing finds nothing.

Versions   1 flexible
Not here   what limits mean (broker.quotas), changing them (controller.quotas).
See        KIP-546
"""

from __future__ import annotations

from enum import IntEnum

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.quotas import ADDRESS, CLIENT_ID, USER
from quire.errors import ErrorCode
from quire.metadata.image import QuotaKey
from quire.protocol.messages import describe_client_quotas as quotas


class Match(IntEnum):
    """How a component finds entities."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


def handle(broker: Broker, call: Call) -> quotas.DescribeClientQuotasResponse:
    """Answer; see the module."""
    request: quotas.DescribeClientQuotasRequest = call.request
    refusal = _refusal(request)
    if refusal is not None:
        code, message = refusal
        return quotas.DescribeClientQuotasResponse(
            throttle_time_ms=0, error_code=code, error_message=message, entries=None
        )
    return quotas.DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message="",
        entries=[
            quotas.EntryData(
                entity=[
                    quotas.EntityData(entity_type=kind, entity_name=name) for kind, name in entity
                ],
                values=[quotas.ValueData(key=key, value=value) for key, value in values.items()],
            )
            for entity, values in broker.image.quotas.items()
            if _is_found(request, entity)
        ],
    )


def _is_found(request: quotas.DescribeClientQuotasRequest, entity: QuotaKey) -> bool:
    parts: dict[str, str | None] = dict(entity)
    if request.strict and len(parts) != len(request.components):
        return False
    return all(_matches(one, parts) for one in request.components)


def _matches(component: quotas.ComponentData, parts: dict[str, str | None]) -> bool:
    if component.entity_type not in parts:
        return False
    name = parts[component.entity_type]
    if component.match_type == Match.EXACT:
        return name == component.match
    return component.match_type == Match.ANY or name is None


def _refusal(request: quotas.DescribeClientQuotasRequest) -> tuple[ErrorCode, str] | None:
    seen: set[str] = set()
    for one in request.components:
        kind = one.entity_type
        if not kind:
            return ErrorCode.INVALID_REQUEST, "a component must name a type of entity"
        if kind in seen:
            return ErrorCode.INVALID_REQUEST, f"{kind} is named twice"
        seen.add(kind)
        if one.match_type not in list(Match):
            return ErrorCode.INVALID_REQUEST, f"unknown match type {one.match_type}"
        if one.match_type == Match.EXACT and one.match is None:
            return ErrorCode.INVALID_REQUEST, f"an exact match of {kind} needs a name"
        if one.match_type != Match.EXACT and one.match is not None:
            return ErrorCode.INVALID_REQUEST, f"{kind} has a name that the match does not use"
        if kind not in (USER, CLIENT_ID, ADDRESS):
            return ErrorCode.UNSUPPORTED_VERSION, f"{kind} is no type of entity"
    if ADDRESS in seen and len(seen) > 1:
        return ErrorCode.INVALID_REQUEST, "addresses cannot be combined with users or client ids"
    return None
