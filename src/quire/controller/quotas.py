"""Client quotas: which entities there can be, which values they can have.

Invariants
  I1  A stored value is above zero and of a key that its entity's type knows.
Not here   keeping to them (broker).
See        KIP-546, KIP-599, KIP-612
"""

from __future__ import annotations

import re
from collections import Counter
from math import isnan
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.errors import ErrorCode
from quire.metadata.delta import quota_key
from quire.metadata.image import QuotaKey
from quire.metadata.records import Message
from quire.protocol.messages import alter_client_quotas as quotas
from quire.protocol.messages.metadata_records import ClientQuotaRecord, EntityData

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

_CLIENT_KEYS: Final = frozenset(
    {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
)
_IP_KEYS: Final = frozenset({"connection_creation_rate"})
_MOST: Final = {
    "producer_byte_rate": 2**63 - 1,
    "consumer_byte_rate": 2**63 - 1,
    "connection_creation_rate": 2**31 - 1,
}
"""Of the keys that are whole numbers; the others may be anything above zero."""
_NEARLY_WHOLE: Final = 1e-6
_HOST: Final = re.compile(r"[0-9A-Za-z._:%-]+")
"""An address of either family, or the name of a host: whether anybody has it is not looked up."""


def alter(turn: Turn, request: quotas.AlterClientQuotasRequest) -> Decision:
    """Set and remove quota values, each entity by itself; one that is named twice is refused once."""
    times = Counter(_key_of(entry) for entry in request.entries)
    messages: list[Message] = []
    entries = []
    for entity, entry in {_key_of(entry): entry for entry in request.entries}.items():
        refusal = _entity_error(entity)
        if refusal is None and (times[entity] > 1 or _names_twice(entry)):
            refusal = Refusal(
                ErrorCode.INVALID_REQUEST, "The entity, or one of its keys, was named twice."
            )
        refusal = refusal or _values_error(entity, entry)
        if refusal is None:
            messages.extend(_messages(turn, entity, entry))
        entries.append(
            quotas.AlterClientQuotasResponseEntryData(
                error_code=refusal.code if refusal else 0,
                error_message=refusal.message if refusal else None,
                entity=[
                    quotas.AlterClientQuotasResponseEntityData(entity_type=kind, entity_name=name)
                    for kind, name in entity
                ],
            )
        )
    response = quotas.AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)
    return Decision(() if request.validate_only else turn.records(messages), response)


def _key_of(entry: quotas.AlterClientQuotasRequestEntryData) -> QuotaKey:
    """Whom an entry is about; of a type that is there twice the last counts."""
    return quota_key({part.entity_type: part.entity_name for part in entry.entity}.items())


def _names_twice(entry: quotas.AlterClientQuotasRequestEntryData) -> bool:
    return len({one.key for one in entry.ops}) < len(entry.ops)


def _entity_error(entity: QuotaKey) -> Refusal | None:
    parts = dict(entity)
    unknown = [kind for kind in parts if kind not in (USER, CLIENT_ID, IP)]
    empty = [kind for kind, name in parts.items() if name == ""]
    address = parts.get(IP)
    if not parts:
        message = "Invalid empty client quota entity"
    elif unknown:
        message = f"Unhandled client quota entity type: {unknown[0]}"
    elif empty:
        message = f"Empty {empty[0]} not supported"
    elif IP in parts and len(parts) > 1:
        message = "Invalid quota entity combination, ip entity should not be used with others."
    elif address is not None and _HOST.fullmatch(address) is None:
        message = f"{address} is not an address or a host's name."
    else:
        return None
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def _values_error(
    entity: QuotaKey, entry: quotas.AlterClientQuotasRequestEntryData
) -> Refusal | None:
    of_ip = IP in dict(entity)
    known = _IP_KEYS if of_ip else _CLIENT_KEYS
    for one in entry.ops:
        if one.remove:
            continue
        if one.key not in known:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {one.key}")
        if isnan(one.value) or one.value <= 0:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Quota {one.key} must be greater than 0")
        most = _MOST.get(one.key)
        if most is None:
            continue
        if one.value > most:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Quota {one.key} must be at most {most}")
        if abs(one.value - round(one.value)) > _NEARLY_WHOLE:
            return Refusal(
                ErrorCode.INVALID_REQUEST, f"Configuration {one.key} must be a whole number."
            )
    return None


def _messages(
    turn: Turn, entity: QuotaKey, entry: quotas.AlterClientQuotasRequestEntryData
) -> list[Message]:
    """Only what makes a difference is written."""
    now = turn.image.quotas.get(entity, {})
    return [
        ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            key=one.key,
            value=0.0 if one.remove else one.value,
            remove=one.remove,
        )
        for one in entry.ops
        if (one.key in now if one.remove else now.get(one.key) != one.value)
    ]
