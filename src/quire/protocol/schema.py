"""The language in which messages are declared: ordinary typed classes, one line per field.

A declaration says what a field is called, what it is, and from which to which version it is there;
everything that follows from it (codecs, strategies for tests, comparison with the peer) reads it.
To mypy a declared class is a keyword-only dataclass; at run time it has slots and nothing else.

Invariants
  I1  Declaring evaluates nothing: annotations are read when a class is first compiled or made.
  I2  A field without a default exists in every version of its message, and must be given.
  I3  What a class does not know (tagged fields of a newer peer) is kept in `unknown_tags`.
Not here   how bytes come of it (compiler, encoders, decoders).
See        docs/formats/wire.md, docs/decisions/0002-declared-messages.md, KIP-482.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")
Bytes: TypeAlias = bytes | bytearray | memoryview
UnknownTags: TypeAlias = tuple[tuple[int, bytes], ...]
Kind: TypeAlias = Literal[
    "request", "response", "header", "data", "metadata", "coordinator-key", "coordinator-value"
]

LATEST: Final = 1 << 15
"""Stands for "and every later version": above any int16."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type of fixed width: its wire name, its struct letter, its bytes and its zero."""

    name: str
    format: str
    size: int
    zero: Any


@dataclass(frozen=True, slots=True)
class Variable:
    """A run of bytes behind its length: a string, bytes, or record batches."""

    name: Literal["string", "bytes", "records"]


@dataclass(frozen=True, slots=True)
class Array:
    """A count, then that many of one type."""

    element: WireType


@dataclass(frozen=True, slots=True)
class Nested:
    """Another declared class, inline."""

    of: type


WireType: TypeAlias = Scalar | Variable | Array | Nested

ZERO_UUID: Final = bytes(16)

Int8: TypeAlias = Annotated[int, Scalar("int8", "b", 1, 0)]
Int16: TypeAlias = Annotated[int, Scalar("int16", "h", 2, 0)]
Int32: TypeAlias = Annotated[int, Scalar("int32", "i", 4, 0)]
Int64: TypeAlias = Annotated[int, Scalar("int64", "q", 8, 0)]
UInt16: TypeAlias = Annotated[int, Scalar("uint16", "H", 2, 0)]
UInt32: TypeAlias = Annotated[int, Scalar("uint32", "I", 4, 0)]
Float64: TypeAlias = Annotated[float, Scalar("float64", "d", 8, 0.0)]
Bool: TypeAlias = Annotated[bool, Scalar("bool", "?", 1, False)]  # noqa: FBT003
Uuid: TypeAlias = Annotated[bytes, Scalar("uuid", "16s", 16, ZERO_UUID)]
"""Sixteen bytes; the nil id is `ZERO_UUID`."""
Records: TypeAlias = Annotated[Bytes, Variable("records")]
"""Record batches as they are on the wire; decoding gives a view of the buffer, not a copy."""


class _Missing:
    """The default of a field that has none."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Options:
    """What `field(...)` says beyond the annotation."""

    default: Any = MISSING
    since: int = 0
    until: int = LATEST
    tag: int | None = None
    nullable_since: int = 0
    ignorable: bool = False
    compact: bool = True


def field(
    *,
    default: Any = MISSING,
    since: int = 0,
    until: int = LATEST,
    tag: int | None = None,
    nullable_since: int = 0,
    ignorable: bool = False,
    compact: bool = True,
) -> Any:
    """Say more about a field.

    default         its value in versions without it, and when none is given: a list is copied, of
                    a nested class one is made
    since, until    the versions that have it, both inclusive
    tag             the tag it travels under (always from `since` on)
    nullable_since  the first version where `None` may be written, for `X | None`
    ignorable       a value is dropped silently in versions without the field, instead of refused
    compact         False keeps the old length prefix even in flexible versions
    """
    return Options(default, since, until, tag, nullable_since, ignorable, compact)


@dataclass(frozen=True, slots=True)
class Field:
    """One field, resolved: the attribute, the wire's name, its type and its versions."""

    name: str
    type: WireType
    nullable: bool
    options: Options

    @property
    def wire_name(self) -> str:
        """The protocol's own name for the field."""
        return "".join(part[:1].upper() + part[1:] for part in self.name.split("_"))

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.options.default is MISSING

    @property
    def default_is_made(self) -> bool:
        """Whether every instance gets a default of its own: a list, or a nested class."""
        return isinstance(self.options.default, type | list)

    def in_version(self, version: int) -> bool:
        return self.options.since <= version <= self.options.until

    def nullable_in(self, version: int) -> bool:
        return self.nullable and version >= self.options.nullable_since

    def make_default(self) -> Any:
        """A value of its own for one instance."""
        default = self.options.default
        if isinstance(default, list):
            return list(default)
        return default() if isinstance(default, type) else default


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@message` says of a class: which message it is and in which versions."""

    name: str
    kind: Kind
    key: int | None
    lowest: int
    highest: int
    flexible: int
    latest_unstable: bool

    @property
    def versions(self) -> range:
        """Every version, the unstable one too."""
        return range(self.lowest, self.highest + 1)

    @property
    def highest_stable(self) -> int:
        return self.highest - 1 if self.latest_unstable else self.highest

    def is_flexible(self, version: int) -> bool:
        return version >= self.flexible


NEVER: Final = LATEST
"""As `flexible=NEVER`: no version of the message is flexible."""

_OPTIONS = "__quire_options__"
_DECLARATION = "__quire_message__"


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def structure(cls: type[T]) -> type[T]:
    """Declare a class that is a part of messages."""
    return _with_slots(cls, {})


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def message(
    *,
    versions: tuple[int, int],
    flexible: int,
    key: int | None = None,
    kind: Kind | None = None,
    latest_unstable: bool = False,
) -> Callable[[type[T]], type[T]]:
    """Declare a whole message; `versions` are inclusive, `flexible` is the first flexible one."""

    def declare(cls: type[T]) -> type[T]:
        by_name: Kind = "request" if cls.__name__.endswith("Request") else "response"
        lowest, highest = versions
        declaration = Declaration(
            cls.__name__, kind or by_name, key, lowest, highest, flexible, latest_unstable
        )
        return _with_slots(cls, {_DECLARATION: declaration})

    return declare


def declaration_of(cls: type) -> Declaration:
    """What was declared with `@message`."""
    found: Declaration = getattr(cls, _DECLARATION)
    return found


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a declared class, in wire order."""
    options: dict[str, Options] = getattr(cls, _OPTIONS)
    module = vars(sys.modules[cls.__module__])
    hints = get_type_hints(cls, globalns=module, localns={}, include_extras=True)
    return tuple(
        Field(name, *_resolve(hints[name], f"{cls.__name__}.{name}"), options[name])
        for name in options
    )


def unknown_tags_of(structured: object) -> UnknownTags:
    """The tagged fields that came with an object and that its class does not know."""
    found: UnknownTags = structured.unknown_tags  # type: ignore[attr-defined]
    return found


def _resolve(hint: Any, where: str) -> tuple[WireType, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        inner = [choice for choice in get_args(hint) if choice is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"{where}: only `X | None` has a form on the wire")
        return _resolve(inner[0], where)[0], True
    if get_origin(hint) is Annotated:
        found: WireType = next(
            extra for extra in get_args(hint)[1:] if isinstance(extra, Scalar | Variable)
        )
        return found, False
    if get_origin(hint) is list:
        return Array(_resolve(get_args(hint)[0], where)[0]), False
    if hint is str:
        return Variable("string"), False
    if hint is bytes:
        return Variable("bytes"), False
    if hasattr(hint, _OPTIONS):
        return Nested(hint), False
    raise TypeError(f"{where}: {hint!r} has no form on the wire")


def _with_slots(cls: type[T], extra: dict[str, Any]) -> type[T]:
    namespace = dict(vars(cls))
    names = tuple(namespace.get("__annotations__", ()))
    plain = Options()
    options = {name: namespace.pop(name, plain) for name in names}
    for unwanted in ("__dict__", "__weakref__"):
        namespace.pop(unwanted, None)
    namespace |= extra
    namespace |= {
        "__slots__": (*names, "unknown_tags"),
        _OPTIONS: options,
        "__init__": _first_init,
        "__eq__": _equal,
        "__hash__": None,
        "__repr__": _show,
    }
    return type(cls.__name__, cls.__bases__, namespace)


def _first_init(self: Any, **values: Any) -> None:
    """Stand in for `__init__` until the class is made the first time, then make way."""
    cls = type(self)
    cls.__init__ = _make_init(cls)
    cls.__init__(self, **values)


def _make_init(cls: type) -> Any:
    parameters = []
    body = []
    namespace: dict[str, Any] = {"MISSING": MISSING}
    for position, one in enumerate(fields_of(cls)):
        name = one.name
        body.append(f"    self.{name} = {name}")
        if one.required:
            parameters.append(name)
            continue
        if not one.default_is_made:
            parameters.append(f"{name}=D{position}")
            namespace[f"D{position}"] = one.options.default
        else:
            parameters.append(f"{name}=MISSING")
            made = "[]" if one.options.default == [] else f"F{position}()"
            default = one.options.default
            namespace[f"F{position}"] = default if isinstance(default, type) else one.make_default
            body[-1] = f"    self.{name} = {made} if {name} is MISSING else {name}"
    arguments = ", ".join(parameters)
    lines = [f"def __init__(self{', *, ' if arguments else ''}{arguments}):", *body]
    lines.append("    self.unknown_tags = ()")
    exec("\n".join(lines), namespace)  # noqa: S102 -- built from declarations, never from input
    init = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _equal(self: Any, other: object) -> Any:
    if type(self) is not type(other):
        return NotImplemented
    names = (*getattr(self, _OPTIONS), "unknown_tags")
    return all(getattr(self, name) == getattr(other, name) for name in names)


def _show(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, _OPTIONS))
    return f"{type(self).__name__}({shown})"
