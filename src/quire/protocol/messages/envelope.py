"""Envelope (key 58)."""

from __future__ import annotations

from quire.protocol.schema import Int16, field, message


@message(key=58, versions=(0, 0), flexible=0)
class EnvelopeRequest:
    """A client's request, forwarded to the controller with its principal (KIP-590)."""

    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


@message(key=58, versions=(0, 0), flexible=0)
class EnvelopeResponse:
    """The controller's answer, to be passed on."""

    response_data: bytes | None = field(default=None)
    error_code: Int16
