"""Client quotas: which entities there can be, which values they can have.

Invariants
  I1  A stored value is above zero and of a key that its entity's type knows.
Not here   keeping to them (broker).
See        KIP-546, KIP-599, KIP-612
"""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.errors import ErrorCode
from quire.metadata.delta import quota_key
from quire.metadata.records import Message
from quire.protocol.messages import alter_client_quotas as quotas
from quire.protocol.messages.metadata_records import ClientQuotaRecord, EntityData

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

_WHOLE_NUMBERS: Final = frozenset({"producer_byte_rate", "consumer_byte_rate"})
_CLIENT_KEYS: Final = _WHOLE_NUMBERS | {"request_percentage", "controller_mutation_rate"}
_IP_KEYS: Final = frozenset({"connection_creation_rate"})


def alter(turn: Turn, request: quotas.AlterClientQuotasRequest) -> Decision:
    """Set and remove quota values, each entity by itself."""
    times = Counter(_key_of(entry) for entry in request.entries)
    messages: list[Message] = []
    entries = []
    for entry in request.entries:
        refusal = _entity_error(entry)
        if refusal is None and times[_key_of(entry)] > 1:
            refusal = Refusal(
                ErrorCode.INVALID_REQUEST, "The entity was named more than once in the request."
            )
        refusal = refusal or _values_error(entry)
        if refusal is None:
            messages.extend(_messages(turn, entry))
        entries.append(
            quotas.AlterClientQuotasResponseEntryData(
                error_code=refusal.code if refusal else 0,
                error_message=refusal.message if refusal else None,
                entity=[
                    quotas.AlterClientQuotasResponseEntityData(
                        entity_type=part.entity_type, entity_name=part.entity_name
                    )
                    for part in entry.entity
                ],
            )
        )
    response = quotas.AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)
    return Decision(() if request.validate_only else turn.records(messages), response)


def _key_of(entry: quotas.AlterClientQuotasRequestEntryData) -> object:
    return quota_key((part.entity_type, part.entity_name) for part in entry.entity)


def _entity_error(entry: quotas.AlterClientQuotasRequestEntryData) -> Refusal | None:
    kinds = [part.entity_type for part in entry.entity]
    if not kinds:
        message = "Invalid empty client quota entity"
    elif len(set(kinds)) != len(kinds):
        message = "The same entity type was given twice."
    elif not set(kinds) <= {USER, CLIENT_ID, IP}:
        unknown = next(kind for kind in kinds if kind not in (USER, CLIENT_ID, IP))
        message = f"Unhandled client quota entity type: {unknown}"
    elif IP in kinds and len(kinds) > 1:
        message = "Invalid quota entity combination, ip entity should not be used with others."
    elif any(part.entity_name == "" for part in entry.entity):
        message = f"Empty {kinds[0]} not supported"
    else:
        return None
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def _values_error(entry: quotas.AlterClientQuotasRequestEntryData) -> Refusal | None:
    of_ip = entry.entity[0].entity_type == IP
    known = _IP_KEYS if of_ip else _CLIENT_KEYS
    for one in entry.ops:
        if one.key not in known:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {one.key}")
        if one.remove:
            continue
        if not isfinite(one.value) or one.value <= 0:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Quota {one.key} must be greater than 0")
        if (one.key in _WHOLE_NUMBERS or of_ip) and not one.value.is_integer():
            return Refusal(
                ErrorCode.INVALID_REQUEST, f"Configuration {one.key} must be a whole number."
            )
    return None


def _messages(turn: Turn, entry: quotas.AlterClientQuotasRequestEntryData) -> list[Message]:
    """Only what makes a difference is written."""
    now = turn.image.quotas.get(
        quota_key((part.entity_type, part.entity_name) for part in entry.entity), {}
    )
    return [
        ClientQuotaRecord(
            entity=[
                EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                for part in entry.entity
            ],
            key=one.key,
            value=0.0 if one.remove else one.value,
            remove=one.remove,
        )
        for one in {one.key: one for one in entry.ops}.values()
        if (one.key in now if one.remove else now.get(one.key) != one.value)
    ]
