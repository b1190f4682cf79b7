"""CRC-32C, by the processor's own instructions: through the kernel, else through the `crc32c` package.

The package is imported with the first checksum that needs it: its import costs tens of milliseconds, and with a
kernel that knows the processor nobody has to pay for them.

See        docs/decisions/0005-codecs.md
"""

from __future__ import annotations

from quire.records.record import Buffer


def crc32c_by_package(data: Buffer, start: int = 0, end: int | None = None) -> int:
    """The checksum of the bytes from `start` to `end`, as an unsigned 32-bit number."""
    from crc32c import crc32c as compute  # noqa: PLC0415 # see above

    stop = len(data) if end is None else end
    if not 0 <= start <= stop <= len(data):
        message = f"no bytes {start} to {stop} in {len(data)}"
        raise ValueError(message)
    with memoryview(data) as view, view[start:stop] as checked:
        return compute(checked)


crc32c = crc32c_by_package

try:
    from quire.records import kernel
except ImportError:  # no compiler was there when the package was built
    pass
else:
    if kernel.CRC32C_WAYS:
        crc32c = kernel.crc32c
