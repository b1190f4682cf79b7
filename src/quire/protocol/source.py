"""Python source under construction, which remembers for every line which field it serves.

The two emitters (encoders, decoders) share it: lines and blocks, fresh local names, constants, and
the run of fixed-width values that is waiting to become one struct.

Not here   what is written into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

from quire.protocol import primitives
from quire.protocol.schema import Field, Nested, Scalar, Variable, WireType, fields_of

_INDENT = "    "
_structs: dict[str, Struct] = {}


class Source:
    """One function being written."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.paths: list[str] = []
        self.constants: dict[str, Any] = {}
        self.run: list[tuple[str, str]] = []
        self._depth = 0
        self._path: list[str] = []
        self._names = 0

    def line(self, text: str) -> None:
        self.lines.append(_INDENT * self._depth + text)
        self.paths.append(".".join(self._path))

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """An indented block; runs never reach across its edges."""
        self.line(header)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """The lines inside serve this field."""
        self._path.append(name)
        yield
        self._path.pop()

    def fresh(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def constant(self, prefix: str, value: Any) -> str:
        """The name under which the function sees a value."""
        for name, known in self.constants.items():
            if known is value:
                return name
        name = f"{prefix}_{len(self.constants)}"
        self.constants[name] = value
        return name

    def struct(self, formats: str) -> Struct:
        """The big-endian struct of these letters, one for all functions."""
        if formats not in _structs:
            _structs[formats] = Struct(">" + formats)
        return _structs[formats]

    def present(self, cls: type) -> list[Field]:
        """The plain fields of a class in this version, in order."""
        return [
            one
            for one in fields_of(cls)
            if one.in_version(self.version) and one.options.tag is None
        ]

    def tagged(self, cls: type) -> list[Field]:
        """The tagged fields of a class in this version, by tag."""
        found = [
            one
            for one in fields_of(cls)
            if one.in_version(self.version) and one.options.tag is not None
        ]
        return sorted(found, key=lambda one: one.options.tag or 0)

    def absent(self, cls: type) -> list[Field]:
        return [one for one in fields_of(cls) if not one.in_version(self.version)]

    def smallest(self, wire_type: WireType, *, nullable: bool, compact: bool) -> int:
        """The fewest bytes a value of this type can take."""
        if isinstance(wire_type, Scalar):
            return wire_type.size
        if isinstance(wire_type, Nested):
            if nullable:
                return 1
            return self.smallest_structure(wire_type.of)
        if self.flexible and compact:
            return 1
        return 2 if wire_type == Variable("string") else 4

    def smallest_structure(self, cls: type) -> int:
        total = sum(
            self.smallest(
                one.type, nullable=one.nullable_in(self.version), compact=one.options.compact
            )
            for one in self.present(cls)
        )
        return total + (1 if self.flexible else 0)


def function_name(formats: str) -> str:
    """Struct letters as part of a Python name."""
    return formats.replace("?", "t")


NAMESPACE: dict[str, Any] = {
    name: getattr(primitives, name)
    for name in (
        "Malformed",
        "bad_null",
        "bad_tag_size",
        "not_16_bytes",
        "past_end",
        "read_tag",
        "read_tags",
        "read_uvarint",
        "too_many",
        "write_tags",
        "write_uvarint",
        "SHORT_UVARINTS",
    )
}
"""What every compiled function sees."""
