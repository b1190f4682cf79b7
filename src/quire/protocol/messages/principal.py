"""The principal that travels in an envelope."""

from __future__ import annotations

from quire.protocol.schema import Bool, message


@message(kind="data", versions=(0, 0), flexible=0)
class DefaultPrincipalData:
    """A principal inside a forwarded request (KIP-590)."""

    type: str
    name: str
    token_authenticated: Bool
