"""Values for any declared message in any version: a strategy, and a quick random maker."""

from __future__ import annotations

import math
import random
from typing import Any

from hypothesis import strategies as st

from quire.protocol.schema import Array, Field, Nested, Scalar, Variable, WireType, fields_of

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
}


def messages(cls: type, version: int) -> st.SearchStrategy[Any]:
    """Every message of a class that its version can carry."""
    given: dict[str, st.SearchStrategy[Any]] = {}
    for one in fields_of(cls):
        if one.in_version(version):
            value = _values(one.type, version)
            if one.nullable_in(version):
                value = st.none() | value
            given[one.name] = value
    return st.fixed_dictionaries(given).map(lambda fields: cls(**fields))


def _values(wire_type: WireType, version: int) -> st.SearchStrategy[Any]:
    if isinstance(wire_type, Scalar):
        if wire_type.name == "uuid":
            return st.binary(min_size=16, max_size=16)
        if wire_type.name == "bool":
            return st.booleans()
        if wire_type.name == "float64":
            return st.floats(allow_nan=False)
        low, high = _RANGES[wire_type.name]
        return st.integers(low, high)
    if isinstance(wire_type, Variable):
        if wire_type.name == "string":
            return st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
        return st.binary(max_size=12)
    if isinstance(wire_type, Array):
        return st.lists(_values(wire_type.element, version), max_size=2)
    return messages(wire_type.of, version)


def random_message(cls: type, version: int, chance: random.Random, *, depth: int = 0) -> Any:
    """One message, quickly; the same for the same state of `chance`."""
    values = {}
    for one in fields_of(cls):
        if one.in_version(version) and (one.required or chance.random() < 0.8):
            values[one.name] = _random_field(one, version, chance, depth)
    return cls(**values)


def _random_field(one: Field, version: int, chance: random.Random, depth: int) -> Any:
    if one.nullable_in(version) and chance.random() < 0.2:
        return None
    return _random_value(one.type, version, chance, depth)


def _random_value(wire_type: WireType, version: int, chance: random.Random, depth: int) -> Any:
    if isinstance(wire_type, Nested):
        return random_message(wire_type.of, version, chance, depth=depth + 1)
    if isinstance(wire_type, Array):
        count = chance.choice((0, 1, 2, 3) if depth < 2 else (0, 1))
        return [_random_value(wire_type.element, version, chance, depth) for _ in range(count)]
    if isinstance(wire_type, Variable):
        size = chance.choice((0, 1, 5, 20, 130))
        if wire_type.name == "string":
            return "".join(chance.choice("ab-é√") for _ in range(size))
        return chance.randbytes(size)
    if wire_type.name == "uuid":
        return chance.randbytes(16)
    if wire_type.name == "bool":
        return chance.random() < 0.5
    if wire_type.name == "float64":
        return math.ldexp(chance.random(), chance.randint(-40, 40))
    low, high = _RANGES[wire_type.name]
    return chance.choice((0, 1, -1 if low else 2, low, high, chance.randint(low, high)))
