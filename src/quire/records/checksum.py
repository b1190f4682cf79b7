"""CRC-32C, by the processor's own instruction where the `crc32c` package finds one.

The package is imported with the first checksum: its import costs tens of milliseconds, and a
command
that never reads a log should not pay for them.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.records.record import Buffer

_crc32c: Callable[[Buffer], int] | None = None


def crc32c(data: Buffer) -> int:
    """The checksum of `data`, as an unsigned 32-bit number. Releases the GIL for large buffers."""
    global _crc32c  # noqa: PLW0603 # bound once, at the first checksum
    if _crc32c is None:
        from crc32c import crc32c as imported  # noqa: PLC0415 # see above

        _crc32c = imported
    return _crc32c(data)
