"""A node as a process: started from its settings, stopped by a signal.

    SIGTERM, SIGINT      a clean stop; the second one ends the process at once
    SIGHUP               ignored: a node that was started from a terminal outlives it, unless nobody could find it
                         again: then it is a clean stop, too

Invariants
  I1  The process ends with 0 after a clean stop, with 1 when the node could not start or go on.
  I2  Assertions are checked: a Python that was told to leave them out (-O) is refused.
Not here   the node (node.boot), reading the settings' file (tools.server).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from quire.errors import QuireError
from quire.node.boot import Node, start
from quire.node.world import Journal
from quire.runtime.world import real_world

INTERRUPTED = 130
STOPPED, FAILED = 0, 1


class ServerError(QuireError):
    """The process cannot be a server."""


def serve(
    static: Mapping[str, str],
    journal: Journal,
    *,
    on_started: Callable[[Node], None] | None = None,
    outlives_terminal: bool = True,
) -> int:
    """Run a node until a signal or its failure; the process's exit code (I1)."""
    if sys.flags.optimize:  # I2
        raise ServerError("python -O leaves out the assertions that guard the data; run without it")
    raise_file_limit()
    signals: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGINT)
    if outlives_terminal:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    else:
        signals = (*signals, signal.SIGHUP)
    return asyncio.run(_serve(static, journal, on_started, signals))


def raise_file_limit() -> int:
    """Let the process open as many files as it may; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # some systems lie about the hard limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft


async def _serve(
    static: Mapping[str, str],
    journal: Journal,
    on_started: Callable[[Node], None] | None,
    signals: Iterable[signal.Signals],
) -> int:
    asked = _on(signals)
    with real_world(static, journal=journal) as world:
        starting = asyncio.ensure_future(start(world, static))
        await _first_of(starting, asked)
        if not starting.done():
            starting.cancel()
            await asyncio.wait({starting})
            return STOPPED
        node = starting.result()
        gc.collect()
        gc.freeze()  # what a node is made of stays: no collection need look at it again
        if on_started is not None:
            on_started(node)
        failing = asyncio.ensure_future(node.failed())
        await _first_of(failing, asked)
        if asked.done():
            failing.cancel()
            await node.stop()
            return STOPPED
        failure = failing.result()
        journal.say("node", f"node {node.node_id}", f"cannot go on: {failure!r}")
        node.crash()
        return FAILED


async def _first_of(*awaited: asyncio.Future[Any]) -> None:
    await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)


def _on(signals: Iterable[signal.Signals]) -> asyncio.Future[None]:
    """Done when the first signal came; the second one does not return."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[None] = loop.create_future()

    def on_signal() -> None:
        if asked.done():
            os._exit(INTERRUPTED)
        asked.set_result(None)

    for number in signals:
        loop.add_signal_handler(number, on_signal)
    return asked
