""".kafka_cleanshutdown: the promise that nothing in a log directory needs to be repaired.

A false promise is worse than none: Apache Kafka trusts it and ends itself at the first torn batch.

Invariants
  I1  The marker is written after everything else is durable, and removed, durably, before anything
      is written again.
See        docs/formats/log-directory.md, KIP-966 (the broker epoch in it)
"""

from __future__ import annotations

import json
from typing import NamedTuple

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.storage.small_files import read_text, replace_file

FILE_NAME = ".kafka_cleanshutdown"

UNKNOWN_BROKER_EPOCH = -1


class CleanShutdown(NamedTuple):
    """The last process stopped cleanly, in this epoch of its registration (-1: not told)."""

    broker_epoch: int = UNKNOWN_BROKER_EPOCH


def read_clean_shutdown(disk: Disk, directory: str) -> CleanShutdown | None:
    """The marker, None when there is none. Its being there counts, even if it cannot be read."""
    try:
        text = read_text(disk, f"{directory}/{FILE_NAME}")
    except FileNotFoundError:
        return None
    except CorruptFileError:
        return CleanShutdown()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return CleanShutdown()
    epoch = content.get("brokerEpoch") if isinstance(content, dict) else None
    if isinstance(epoch, int) and not isinstance(epoch, bool) and 0 <= epoch < 2**63:
        return CleanShutdown(epoch)
    return CleanShutdown()


def write_clean_shutdown(disk: Disk, directory: str, broker_epoch: int) -> None:
    """Promise it (I1)."""
    text = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(disk, f"{directory}/{FILE_NAME}", text.encode())


def remove_clean_shutdown(disk: Disk, directory: str) -> None:
    """Take the promise back, durably (I1)."""
    path = f"{directory}/{FILE_NAME}"
    if disk.exists(path):
        disk.remove(path)
        disk.flush_directory(directory)
