"""The language of the declarations: a setting is a `Setting` on its class, a value on an instance.

    class LogSection(Settings):
        log_segment_bytes = integer(1 * GIB, HIGH, CLUSTER, at_least=1 * MIB,
            doc="The size at which the active segment is closed and a new one begun.")

    LogSection.log_segment_bytes.name                   "log.segment.bytes"
    LogSection.of({"log.segment.bytes": "2000000"}).log_segment_bytes    2000000

Invariants
  I1  The name follows from the attribute (`_` is `.`); one that has a `_` itself is given.
  I2  Every value of an instance passed the type and the rule of its setting, the defaults too.
  I3  Instances are not changed after they were made.
Not here   the rules between settings (checks), which text counts (layers).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    NoReturn,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from quire.config.allowed import Allowed, Between, Items, OneOf
from quire.config.values import ConfigError, Kind, Value, format_value, parse

T = TypeVar("T")
D = TypeVar("D", bool, int, float, str, tuple[str, ...])

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
ON = True
OFF = False
SHOWN_CHARACTERS = 100


class Importance(Enum):
    """How much a setting matters to somebody who reads through them."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Dynamic(Enum):
    """When a broker's setting may change."""

    READ_ONLY = "read-only"
    """Only by a restart."""
    PER_BROKER = "per-broker"
    """At any time, for one broker."""
    CLUSTER_WIDE = "cluster-wide"
    """At any time, for one broker or for all."""


HIGH = Importance.HIGH
MEDIUM = Importance.MEDIUM
LOW = Importance.LOW
READ_ONLY = Dynamic.READ_ONLY
BROKER = Dynamic.PER_BROKER
CLUSTER = Dynamic.CLUSTER_WIDE


class Required(Enum):
    """The default of a setting that has none and must be given."""

    REQUIRED = "required"


REQUIRED: Final = Required.REQUIRED


class Synonym:
    """Another setting that gives this one its value where nobody set it, times a factor."""

    __slots__ = ("factor", "name")

    def __init__(self, name: str, factor: int = 1) -> None:
        self.name = name
        self.factor = factor


class Rules(TypedDict, total=False):
    """What a declaration may say besides default, importance and dynamics."""

    doc: str
    name: str
    at_least: float
    at_most: float
    one_of: tuple[str, ...]
    any_case: bool
    may_be_empty: bool
    form: Allowed
    internal: bool
    synonyms: tuple[Synonym, ...]


class Setting(Generic[T]):
    """One declared setting; as an attribute of an instance, its value."""

    __slots__ = (
        "allowed", "attribute", "default", "doc", "dynamic", "importance", "internal", "kind",
        "name", "required", "synonyms",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        default: T | Required,
        importance: Importance,
        dynamic: Dynamic,
        rules: Rules,
    ) -> None:
        self.attribute = ""
        self.name = rules.get("name", "")
        self.kind = kind
        self.required = default is REQUIRED
        self.default: T | None = None if isinstance(default, Required) else default
        self.importance = importance
        self.dynamic = dynamic
        self.doc = rules.get("doc", "")
        self.internal = rules.get("internal", False)
        """Shown only where it is set."""
        self.synonyms = rules.get("synonyms", ())
        self.allowed = _allowed(kind, rules)

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = self.name or attribute.replace("_", ".")

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Settings, owner: type) -> T: ...
    def __get__(self, instance: Settings | None, owner: type) -> Self | T:
        if instance is None:
            return self
        values: Mapping[str, Any] = instance.given
        value: T = values.get(self.name, self.default)
        return value

    def __set__(self, instance: Settings, value: object) -> NoReturn:
        raise AttributeError(f"{self.name} is read-only here: settings are made anew, not changed")

    @property
    def sensitive(self) -> bool:
        return self.kind.sensitive

    @property
    def default_text(self) -> str | None:
        return self.format(self.default)  # type: ignore[arg-type]

    @property
    def allowed_text(self) -> str:
        return "" if self.allowed is None else self.allowed.text

    def parse(self, text: str) -> T:
        """The value of a text, judged; ConfigError names the setting, the text, what is allowed."""
        try:
            value = parse(self.kind, text)
        except ValueError as failure:
            raise self.refusal(text, str(failure)) from None
        if self.allowed is not None:
            if isinstance(value, tuple) and isinstance(self.allowed, Items):
                value = tuple(dict.fromkeys(value))
            if not self.allowed.admits(value):
                raise self.refusal(text, self.allowed.text)
        return value  # type: ignore[return-value]

    def format(self, value: Value) -> str | None:
        return format_value(self.kind, value)

    def refusal(self, given: str, allowed: str) -> ConfigError:
        shown = "[hidden]" if self.sensitive else repr(given[:SHOWN_CHARACTERS])
        return ConfigError(f"{self.name} is {shown}, but must be {allowed}", setting=self.name)

    def __repr__(self) -> str:
        return f"<Setting {self.name}>"


class Settings:
    """Values of declared settings, one attribute each, and the names that nobody declared."""

    declared: ClassVar[Mapping[str, Setting[Any]]] = MappingProxyType({})
    """By name, in the order of the declarations."""

    def __init_subclass__(cls) -> None:
        found: dict[str, Setting[Any]] = {}
        for base in reversed(cls.__mro__):
            for member in vars(base).values():
                if isinstance(member, Setting):
                    found[member.name] = member
        cls.declared = MappingProxyType(found)

    def __init__(self, given: Mapping[str, Any], unknown: tuple[str, ...] = ()) -> None:
        """Of values by name that were parsed already; `of` takes texts."""
        self.given = given
        self.unknown = unknown
        """Names that no declaration knows; a node says so once and goes on, as Kafka does."""

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Self:
        """Of texts by name; ConfigError for the first that is refused, or that is missing."""
        given = {
            name: cls.declared[name].parse(texts[name]) for name in texts if name in cls.declared
        }
        for setting in cls.declared.values():
            if setting.required and setting.name not in given:
                raise ConfigError(f"{setting.name} must be set", setting=setting.name)
        return cls(given, tuple(name for name in texts if name not in cls.declared))

    def value(self, name: str) -> Any:
        """The value of a setting by its name; KeyError for one that nobody declared."""
        setting = self.declared[name]
        return self.given.get(name, setting.default)


class Declare(Generic[D]):
    """Declares settings of one kind; `None` as default makes the value optional."""

    __slots__ = ("kind",)

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    @overload
    def __call__(
        self,
        default: None,
        importance: Importance = ...,
        dynamic: Dynamic = ...,
        **rules: Unpack[Rules],
    ) -> Setting[D | None]: ...
    @overload
    def __call__(
        self,
        default: D | Required,
        importance: Importance = ...,
        dynamic: Dynamic = ...,
        **rules: Unpack[Rules],
    ) -> Setting[D]: ...
    def __call__(
        self,
        default: D | Required | None,
        importance: Importance = Importance.MEDIUM,
        dynamic: Dynamic = Dynamic.READ_ONLY,
        **rules: Unpack[Rules],
    ) -> Any:
        return Setting(self.kind, default, importance, dynamic, rules)


boolean = Declare[bool](Kind.BOOLEAN)
integer = Declare[int](Kind.INT)
short = Declare[int](Kind.SHORT)
long = Declare[int](Kind.LONG)
double = Declare[float](Kind.DOUBLE)
string = Declare[str](Kind.STRING)
password = Declare[str](Kind.PASSWORD)
class_name = Declare[str](Kind.CLASS)
string_list = Declare[tuple[str, ...]](Kind.LIST)


def _allowed(kind: Kind, rules: Rules) -> Allowed | None:
    if "form" in rules:
        return rules["form"]
    if kind is Kind.LIST:
        return Items(rules.get("one_of", ()), may_be_empty=rules.get("may_be_empty", False))
    if "one_of" in rules:
        return OneOf(rules["one_of"], any_case=rules.get("any_case", False))
    if "at_least" in rules or "at_most" in rules:
        return Between(rules.get("at_least"), rules.get("at_most"))
    return None
