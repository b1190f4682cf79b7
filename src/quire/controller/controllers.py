"""Controllers register with the active one, so that it knows what all of them support.

Invariants
  I1  A registered controller supports every finalized level.
See        KIP-919
"""

from __future__ import annotations

from quire.controller.decision import Decision, Turn
from quire.errors import ErrorCode
from quire.metadata.features import CONTROLLER_REGISTRATION_LEVEL, METADATA_VERSION
from quire.protocol.messages import controller_registration as registrations
from quire.protocol.messages.metadata_records import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def register(turn: Turn, request: registrations.ControllerRegistrationRequest) -> Decision:
    """A controller's process tells where it listens and what it supports."""
    reason = _refusal(turn, request)
    response = registrations.ControllerRegistrationResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE if reason is None else ErrorCode.UNSUPPORTED_VERSION,
        error_message=reason or "",
    )
    if reason is not None:
        return Decision(response=response)
    message = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=request.zk_migration_ready,
        end_points=[
            ControllerEndpoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            ControllerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
    )
    return Decision((turn.record(message),), response)


def _refusal(turn: Turn, request: registrations.ControllerRegistrationRequest) -> str | None:
    level = turn.image.metadata_version
    if level < CONTROLLER_REGISTRATION_LEVEL:
        return "The current metadata version is too old to support controller registrations."
    supported = {
        one.name: (one.min_supported_version, one.max_supported_version) for one in request.features
    }
    for name, finalized in {METADATA_VERSION: level, **turn.image.features}.items():
        lowest, highest = supported.get(name, (finalized, finalized))
        if not lowest <= finalized <= highest:
            return f"Controller {request.controller_id} does not support {name} at {finalized}."
    return None
