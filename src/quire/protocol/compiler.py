"""Turns a declaration and a version into two flat functions, on first use, and keeps them.

`codec(FetchRequest, 12)` is what the rest of the system calls; `source_of` shows what it runs.

Invariants
  I1  Whatever bytes come in, `decode` returns a message or raises ProtocolError that names the
      message, its version, the field and the position.
  I2  Decoding what was encoded gives an equal message; encoding it again gives the same bytes.
  I3  Record batches are not copied, neither in nor out (`buffers`).
Not here   what the functions look like (decoders, encoders), frames (connection).
See        docs/decisions/0002-declared-messages.md
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from quire.errors import ProtocolError, UnsupportedVersionError
from quire.protocol.decoders import write_decoder
from quire.protocol.encoders import write_encoder
from quire.protocol.schema import Bytes, declaration_of
from quire.protocol.source import NAMESPACE, Source

T = TypeVar("T")

JOIN_BELOW_BYTES: Final = 4096
"""Pieces shorter than this are cheaper copied together than sent alone."""

_READ_FAILURES = (IndexError, struct.error, ValueError)
_WRITE_FAILURES = (struct.error, ValueError, TypeError, AttributeError)


class Codec(Generic[T]):
    """The two functions of one version of one message."""

    __slots__ = ("cls", "decode", "encode_into", "version")

    def __init__(self, cls: type[T], version: int) -> None:
        self.cls = cls
        self.version = version
        self.decode: Callable[..., tuple[T, int]] = _compile(_decoder(cls, version), "decode")
        """`decode(buffer, position=0) -> (message, position behind it)`"""
        self.encode_into: Callable[[T, Callable[[Any], None]], None] = _compile(
            _encoder(cls, version), "encode"
        )
        """`encode_into(message, append)`: hands its pieces to `append`, in order."""

    def encode(self, message: T) -> bytes:
        """The message as one run of bytes."""
        parts: list[Bytes] = []
        self.encode_into(message, parts.append)
        return b"".join(parts)

    def buffers(self, message: T) -> list[Any]:
        """The message in few pieces; long ones are the caller's own objects, not copies.

        Records may be anything that has a length: it comes out as the object it was.
        """
        parts: list[Any] = []
        self.encode_into(message, parts.append)
        return join_small(parts)

    def decode_all(self, buffer: Bytes, position: int = 0) -> T:
        """The message that fills `buffer` from `position` to its end."""
        message, end = self.decode(buffer, position)
        if end != len(buffer):
            raise ProtocolError(
                f"{len(buffer) - end} bytes too many",
                where=_label(self.cls, self.version),
                position=end,
            )
        return message


_codecs: dict[tuple[type, int], Codec[Any]] = {}


def codec(cls: type[T], version: int) -> Codec[T]:
    """The codec of one version of a message; compiled the first time it is asked for."""
    found = _codecs.get((cls, version))
    if found is None:
        _check_version(cls, version)
        found = _codecs[cls, version] = Codec(cls, version)
    return found


def source_of(cls: type, version: int) -> str:
    """The generated Python, for eyes."""
    _check_version(cls, version)
    pair = (_encoder(cls, version), _decoder(cls, version))
    return "\n\n".join("\n".join(source.lines) for source in pair)


def join_small(parts: Sequence[Any]) -> list[Any]:
    """Put neighbours together while they are short; leave long and foreign pieces as they are."""
    joined: list[Any] = []
    small: list[Bytes] = []
    for part in parts:
        if part.__class__ in _BYTES and len(part) < JOIN_BELOW_BYTES:
            small.append(part)
            continue
        if small:
            joined.append(b"".join(small))
            small = []
        joined.append(part)
    if small:
        joined.append(b"".join(small))
    return joined


_BYTES: Final = (bytes, bytearray, memoryview)


def _check_version(cls: type, version: int) -> None:
    declared = declaration_of(cls)
    if version not in declared.versions:
        raise UnsupportedVersionError(
            f"versions {declared.lowest} to {declared.highest} exist, not {version}",
            where=declared.name,
        )


def _label(cls: type, version: int) -> str:
    return f"{cls.__name__} v{version}"


def _decoder(cls: type, version: int) -> Source:
    flexible = declaration_of(cls).is_flexible(version)
    source = write_decoder(cls, version, flexible=flexible, label=_label(cls, version))
    source.constants |= {"FAILURES": _READ_FAILURES, "unreadable": _unreadable}
    return source


def _encoder(cls: type, version: int) -> Source:
    flexible = declaration_of(cls).is_flexible(version)
    source = write_encoder(cls, version, flexible=flexible, label=_label(cls, version))
    source.constants |= {"FAILURES": _WRITE_FAILURES, "unwritable": _unwritable}
    return source


def _compile(source: Source, name: str) -> Any:
    namespace = {
        **NAMESPACE,
        **source.constants,
        "new": object.__new__,
        "PATHS": tuple(source.paths),
    }
    code = compile("\n".join(source.lines), f"<quire {name}>", "exec")
    exec(code, namespace)  # noqa: S102 -- built from declarations, never from input
    return namespace[name]


def _unreadable(
    failure: Exception, label: str, paths: tuple[str, ...], position: int
) -> ProtocolError:
    reason = str(failure)
    if isinstance(failure, IndexError | struct.error):
        reason = "the bytes end too soon"
    elif isinstance(failure, UnicodeDecodeError):
        reason = "a string that is not UTF-8"
    return ProtocolError(reason, where=_where(failure, label, paths), position=position)


def _unwritable(failure: Exception, label: str, paths: tuple[str, ...]) -> ProtocolError:
    return ProtocolError(f"cannot be written: {failure}", where=_where(failure, label, paths))


def _where(failure: Exception, label: str, paths: tuple[str, ...]) -> str:
    """The message and field: the generated line that failed remembers which field it served."""
    if failure.__traceback__ is None:
        return label
    path = paths[failure.__traceback__.tb_lineno - 1]
    return f"{label} {path}" if path else label
