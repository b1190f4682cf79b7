"""The small change of the wire: variable-length numbers, tagged sections, and the usual failures.

Compiled codecs call these off their fast path; other rooms may use the numbers directly.

Invariants
  I1  A reader returns the value and the position behind it, or raises `Malformed`, `IndexError`
      or `struct.error`; the codec that called it turns each of them into a ProtocolError.
  I2  No size that was read is trusted: it is compared with what remains before it is used.
Not here   records' own numbers (records), whole messages (compiler).
See        docs/formats/wire.md, KIP-482.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from quire.protocol.schema import Bytes, UnknownTags

INT8: Final = Struct(">b")
INT16: Final = Struct(">h")
INT32: Final = Struct(">i")
INT64: Final = Struct(">q")

_UINT32_MAX: Final = 0xFFFF_FFFF
_UINT64_MAX: Final = 0xFFFF_FFFF_FFFF_FFFF


class Malformed(ValueError):  # noqa: N818 -- it never leaves a codec
    """Bytes that cannot be; raised inside a codec, which adds the field and the position."""


def write_uvarint(value: int) -> bytes:
    """An unsigned number, seven bits per byte, lowest first."""
    if value < 0:
        raise Malformed(f"{value} is below zero")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(buffer: Bytes, position: int) -> tuple[int, int]:
    """An unsigned number of at most 32 bits."""
    return _read_uvarint(buffer, position, 28, _UINT32_MAX)


def read_uvarlong(buffer: Bytes, position: int) -> tuple[int, int]:
    """An unsigned number of at most 64 bits."""
    return _read_uvarint(buffer, position, 63, _UINT64_MAX)


def _read_uvarint(buffer: Bytes, position: int, last_shift: int, largest: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, last_shift + 1, 7):
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > largest:
                break
            return value, position
    raise Malformed("a variable-length number is too long")


def write_varint(value: int) -> bytes:
    """A signed number of any width, zigzag: small ones of either sign stay short."""
    return write_uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(buffer: Bytes, position: int) -> tuple[int, int]:
    """A signed number of at most 32 bits, zigzag."""
    value, position = read_uvarint(buffer, position)
    return (value >> 1) ^ -(value & 1), position


def read_varlong(buffer: Bytes, position: int) -> tuple[int, int]:
    """A signed number of at most 64 bits, zigzag."""
    value, position = read_uvarlong(buffer, position)
    return (value >> 1) ^ -(value & 1), position


SHORT_UVARINTS: Final = tuple(bytes((value,)) for value in range(0x80))
"""The one-byte forms, for compiled encoders."""


def read_tags(buffer: Bytes, position: int, count: int) -> tuple[UnknownTags, int]:
    """A tagged section of which nothing is known, behind its count."""
    tags: list[tuple[int, bytes]] = []
    previous = -1
    for _ in range(count):
        tag, end, position = read_tag(buffer, position, previous)
        tags.append((tag, bytes(buffer[position:end])))
        previous = tag
        position = end
    return tuple(tags), position


def read_tag(buffer: Bytes, position: int, previous: int) -> tuple[int, int, int]:
    """The head of one tagged field: its tag, where it ends, where its content starts."""
    tag, position = read_uvarint(buffer, position)
    length, position = read_uvarint(buffer, position)
    if tag <= previous:
        raise Malformed(f"tag {tag} follows tag {previous}")
    end = position + length
    if end > len(buffer):
        raise past_end(length, len(buffer) - position)
    return tag, end, position


def write_tags(known: dict[int, bytes], unknown: UnknownTags) -> bytes:
    """A tagged section: what we know and what we kept, by ascending tag; what we know wins."""
    tags = dict(unknown) | known
    parts = [write_uvarint(len(tags))]
    for tag, content in sorted(tags.items()):
        parts += (write_uvarint(tag), write_uvarint(len(content)), content)
    return b"".join(parts)


def past_end(length: int, remaining: int) -> Malformed:
    """The failure of a length that the buffer cannot hold."""
    return Malformed(f"a length of {length} where {remaining} bytes remain")


def too_many(count: int, remaining: int) -> Malformed:
    """The failure of an array that the buffer cannot hold."""
    return Malformed(f"{count} elements where {remaining} bytes remain")


def bad_null() -> Malformed:
    """The failure of a null where there is none."""
    return Malformed("null where null is not allowed")


def bad_tag_size(tag: int, surplus: int) -> Malformed:
    """The failure of a tagged field whose size is not its content's."""
    return Malformed(f"tag {tag} is off by {surplus} bytes from its size")


def not_16_bytes(value: Bytes) -> Malformed:
    """The failure of an id of the wrong length."""
    return Malformed(f"a uuid of {len(value)} bytes")
