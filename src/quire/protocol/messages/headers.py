"""The headers of requests and responses."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message


@message(kind="header", versions=(1, 2), flexible=2)
class RequestHeader:
    """Before every request. v2 flexible (KIP-482), yet the client's name keeps its old form."""

    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: str | None = field(compact=False)


@message(kind="header", versions=(0, 1), flexible=1)
class ResponseHeader:
    """Before every response. v1 flexible (KIP-482)."""

    correlation_id: Int32
