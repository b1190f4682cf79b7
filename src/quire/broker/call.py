"""One request on its way to its answer, and who asks.

A handler is given the broker and a call. A plain function answers now, or says how the connection goes on while the
answer is prepared; a coroutine (of a coroutine function, or given by a plain one) may take its time, and holds
its connection until it returns the answer, or until the answer has come when it returns LATER.

    def handle(broker: Broker, call: Call) -> object          the response, LATER, HOLD, NOTHING or CLOSE
    async def handle(broker: Broker, call: Call) -> object    the response

Invariants
  I1  A call is answered exactly once; answers of one connection leave in the order of its requests.
  I2  After HOLD (and while a coroutine runs) no other request of the connection is begun; after LATER they are, so a
      handler answers LATER only when all that must happen in order has happened.
Not here   bytes and sockets (broker.connection), rights and quotas (broker.dispatch).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from quire.ports.network import Address
from quire.protocol.apis import Api


class Progress(Enum):
    """What a handler returns instead of a response."""

    LATER = "later"
    """`call.answer` will be called; the next request of the connection may begin."""
    HOLD = "hold"
    """`call.answer` will be called; the connection waits."""
    NOTHING = "nothing"
    """The client expects no answer (acks=0)."""
    CLOSE = "close"
    """The client can be told nothing but by the end of its connection."""


LATER: Final = Progress.LATER
HOLD: Final = Progress.HOLD
NOTHING: Final = Progress.NOTHING
CLOSE: Final = Progress.CLOSE

ANONYMOUS: Final = "User:ANONYMOUS"


class Client:
    """The other end of a connection, as far as it is known."""

    __slots__ = ("address", "listener", "principal", "software_name", "software_version")

    def __init__(self, address: Address, listener: str, principal: str = ANONYMOUS) -> None:
        self.address = address
        self.listener = listener
        """The name of the listener it came in by: answers advertise addresses of the same one."""
        self.principal = principal
        self.software_name = ""
        self.software_version = ""


class Call:
    """See the module."""

    __slots__ = (
        "answer",
        "api",
        "client",
        "client_id",
        "received_ms",
        "request",
        "size",
        "throttle_ms",
        "version",
    )

    def __init__(
        self,
        api: Api,
        version: int,
        request: Any,
        *,
        client: Client,
        client_id: str | None,
        received_ms: int,
        answer: Callable[[Any], None],
    ) -> None:
        self.api = api
        self.version = version
        self.request = request
        """The decoded body."""
        self.client = client
        self.client_id = client_id
        self.received_ms = received_ms
        """By the monotonic clock."""
        self.size = 0
        """The bytes of the whole request; what quotas count."""
        self.throttle_ms = 0
        """For how long to be throttled, where no response can say it (acks=0)."""
        self.answer = answer
        """To be called with the response after LATER or HOLD, from the loop, once; `NOTHING` and `CLOSE` are as good.

        What waits in a purgatory for it does so under the call itself, too: when the connection ends it is expired.
        """
