"""The machine as a node's world: files, sockets, clocks, chance, threads and processes.

    with real_world(settings) as world:
        node = await start(world, settings)

Not here   what a node does with it (node).
See        docs/decisions/0001-pure-rooms-and-ports.md
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from quire.config.broker import BrokerSettings
from quire.node.world import Journal, World
from quire.runtime.background import ThreadBackground
from quire.runtime.cleanings import ProcessCleanings
from quire.runtime.clock import RealClock
from quire.runtime.disk import RealDisk
from quire.runtime.entropy import RealEntropy
from quire.runtime.journal import SilentJournal
from quire.runtime.network import RealNetwork
from quire.storage.log_dirs import RunEach


@contextmanager
def real_world(static: Mapping[str, str], *, journal: Journal | None = None) -> Iterator[World]:
    """This machine's doors for one node; afterwards no thread and no process is left of them."""
    background = ThreadBackground()
    cleanings = ProcessCleanings()
    send = BrokerSettings.socket_send_buffer_bytes
    receive = BrokerSettings.socket_receive_buffer_bytes
    try:
        yield World(
            disk=RealDisk(),
            network=RealNetwork(
                send_buffer_bytes=_number(static, send.name, send.default),
                receive_buffer_bytes=_number(static, receive.name, receive.default),
            ),
            clock=RealClock(),
            entropy=RealEntropy(),
            background=background,
            cleanings=cleanings,
            journal=SilentJournal() if journal is None else journal,
            run_each=_each_on_threads,
            host_name=host_name(),
        )
    finally:
        cleanings.close()
        background.close()


def host_name() -> str:
    """What others call this machine."""
    return socket.gethostname() or "localhost"


def _each_on_threads(threads: int) -> RunEach:
    from quire.runtime.threads import GroupThreads  # noqa: PLC0415 -- only where there are logs

    return GroupThreads(threads)


def _number(static: Mapping[str, str], name: str, default: int | None) -> int:
    """A size that is needed before the settings are judged; a bad one is refused there."""
    text = static.get(name, "")
    return int(text) if text.lstrip("-").isdecimal() else default or -1
