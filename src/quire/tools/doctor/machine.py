"""A node's settings, its directories, its ports and the limits of this machine, before (or while) it runs.

Not here   the cluster as others see it (cluster).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from typing import Final

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import listening
from quire.config.checks import check_node
from quire.config.values import ConfigError
from quire.errors import StorageError
from quire.node.boot import check_supported
from quire.ports.disk import Disk
from quire.ports.network import Address, Network, Stream
from quire.records import implementation
from quire.runtime.disk import RealDisk
from quire.storage.meta_properties import MetaProperties, agree, read_meta_properties
from quire.tools.doctor.cluster import room
from quire.tools.doctor.findings import Finding, fine, warning, wrong

FILES_WANTED: Final = 100_000
"""A thousand partitions have some thousand files, and every connection is one more."""


def examine_machine(
    static: Mapping[str, str], network: Network, *, is_running: bool
) -> list[Finding]:
    """All checks of one node; `is_running`: its ports and directories are its own."""
    found = [_kernels(), _files()]
    try:
        settings = BrokerSettings.of(static)
        check_node(settings)
        check_supported(settings)
    except ConfigError as error:
        subject = error.setting or "settings"
        return [*found, wrong(subject, str(error), f"Change {subject}.")]
    found += [
        warning(name, "is no setting that is known", "Is it spelled as Apache Kafka spells it?")
        for name in settings.unknown
    ]
    if not settings.unknown:
        found.append(fine("settings", f"{len(static)}, all known and allowed"))
    found += _directories(RealDisk(), settings)
    if not is_running:
        found += _ports(network, settings)
    return found


def _kernels() -> Finding:
    if implementation.NAME.startswith("pure"):
        text = "batches are handled by pure Python, which is much slower"
        return warning("kernels", text, "Install a C compiler, then install quire again.")
    return fine("kernels", implementation.NAME)


def _files() -> Finding:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES_WANTED:
        text = f"at most {hard} open files"
        return warning("limits", text, f"Raise `ulimit -Hn` to {FILES_WANTED}.")
    return fine("limits", f"{hard} open files")


def _directories(disk: Disk, settings: BrokerSettings) -> Iterator[Finding]:
    metas: dict[str, MetaProperties | None] = {}
    for path in dict.fromkeys((*settings.log_directories, settings.metadata_log_directory)):
        if not os.path.isdir(path):
            yield wrong(path, "is not there", "`quire format` makes it, and makes it ready.")
            continue
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            yield wrong(path, "cannot be read and written", "Give it to the user of the node.")
            continue
        try:
            meta = read_meta_properties(disk, path)
        except StorageError as error:
            yield wrong(path, str(error), "Put the right meta.properties back.")
            continue
        if meta is None:
            yield wrong(path, "is not formatted", "`quire format` makes it ready.")
            continue
        metas[path] = meta
        facts = os.statvfs(path)
        yield room(path, facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize)
    try:
        if metas:
            agree(metas, node_id=settings.node_id)
    except StorageError as error:
        yield wrong("log.dirs", str(error), "These directories belong to different nodes.")


def _ports(network: Network, settings: BrokerSettings) -> Iterator[Finding]:
    for one in listening(settings):
        place = Address(one.host, max(one.port, 0))
        try:
            network.listen(place, _nobody).close()
        except OSError as error:
            text = f"{one} cannot be opened: {error.strerror or error}"
            yield wrong("listeners", text, "Choose another port, or end who has it.")
        else:
            yield fine("listeners", f"{one} is free")


def _nobody(stream: Stream) -> _Nobody:
    return _Nobody(stream)


class _Nobody:
    """Hangs up on whoever comes while the port is tried."""

    def __init__(self, stream: Stream) -> None:
        self._buffer = memoryview(bytearray(1))
        stream.abort()

    def buffer(self) -> memoryview:
        return self._buffer

    def received(self, count: int) -> None:
        """Nothing is heard."""

    def drained(self) -> None:
        """Nothing was said."""

    def closed(self, reason: Exception | None) -> None:
        """As it should be."""
