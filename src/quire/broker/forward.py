"""A client's request passed on to the active controller: what most of the control plane's handlers do.

On a broker's listener the request waits while there is no controller; on a controller's it is for this one or nobody.

Invariants
  I1  A request with no time left, of a kind that says how long it may take, is refused and nothing is done.
  I2  A request that nobody decided in request.timeout.ms is refused as timed out; it may still be decided later.
Not here   what the controller decides (controller), envelopes (the link).
See        KIP-590
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.refusals import is_timed, refused
from quire.config.broker.endpoints import controller_listeners
from quire.errors import ErrorCode

RETRY_SECONDS: Final = 0.05


async def forward(broker: Broker, call: Call) -> Any:
    """The active controller's answer, or a refusal of all of it."""
    return await ask(broker, call, call.request)


async def ask(broker: Broker, call: Call, request: Any, *, version: int | None = None) -> Any:
    """As `forward`, with a request that says less than the client's; or another one, in `version`."""
    version = call.version if version is None else version
    if is_timed(request) and request.timeout_ms <= 0:  # I1
        return refused(request, version, ErrorCode.REQUEST_TIMED_OUT)
    try:
        async with asyncio.timeout(broker.layers.settings.request_timeout_ms / 1000):
            return await _patiently(broker, call, request, version)
    except TimeoutError:
        return refused(request, version, ErrorCode.REQUEST_TIMED_OUT)


async def _patiently(broker: Broker, call: Call, request: Any, version: int) -> Any:
    while True:
        try:
            return await broker.controller.ask(request, version=version, client=call.client)
        except ControllerUnavailableError:
            if comes_by_controller(broker, call):
                return refused(request, version, ErrorCode.NOT_CONTROLLER)
        await asyncio.sleep(RETRY_SECONDS)


def comes_by_controller(broker: Broker, call: Call) -> bool:
    """Whether a request came by a controller's listener."""
    return call.client.listener in controller_listeners(broker.layers.settings)
