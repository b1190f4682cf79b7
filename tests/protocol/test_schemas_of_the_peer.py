"""Our declarations against the schemas inside Apache Kafka's jars, version by version.

Each side is unfolded into the list of fields that one version really has: name, type, nullability,
tag, default, length form. The lists must be equal; so nothing is missing and nothing is extra.
"""

from __future__ import annotations

from typing import Any

import pytest

import peer
from quire.errors import ErrorCode
from quire.protocol import apis
from quire.protocol.messages import MESSAGES
from quire.protocol.schema import (
    NEVER,
    ZERO_UUID,
    Array,
    Field,
    Nested,
    WireType,
    declaration_of,
    fields_of,
)

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def schemas() -> dict[str, dict[str, Any]]:
    peer.require_jars()
    return {schema["name"]: schema for schema in peer.schemas()}


def versions(text: str | None) -> range:
    """`3+`, `0-4`, `7` or nothing, as a range."""
    if text is None or text == "none":
        return range(0)
    low, dash, high = text.removesuffix("+").partition("-")
    if text.endswith("+"):
        return range(int(low), NEVER)
    return range(int(low), int(high if dash else low) + 1)


def their_default(field: dict[str, Any], nullable_ever: bool) -> Any:
    kind = field["type"]
    if field.get("default") == "null" and nullable_ever:
        return None
    if kind.startswith("[]"):
        return []
    if kind[0].isupper():
        return "its own"
    default = field.get("default")
    if kind == "string":
        return default or ""
    if kind in ("bytes", "records"):
        return b""
    if kind == "uuid":
        return ZERO_UUID
    if kind == "bool":
        return str(default).lower() == "true"
    if kind == "float64":
        return float(default or 0)
    return int(str(default or 0), 0)


def their_fields(schema: dict[str, Any], fields: list[dict[str, Any]], version: int) -> list[Any]:
    shared = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
    found = []
    for field in fields:
        tagged = version in versions(field.get("taggedVersions"))
        present = versions(field.get("versions", field.get("taggedVersions")))
        if version not in present:
            continue
        inner = field["type"].removeprefix("[]")
        parts = None
        if inner[0].isupper():
            parts = their_fields(schema, field.get("fields") or shared[inner], version)
            inner = "struct"
        found.append(
            (
                field["name"].lower(),
                "[]" * field["type"].startswith("[]") + inner,
                version in versions(field.get("nullableVersions")),
                field["tag"] if tagged else None,
                field.get("flexibleVersions") != "none",
                parts,
            )
        )
    return found


def our_fields(cls: type, version: int) -> list[Any]:
    found = []
    for one in fields_of(cls):
        if one.in_version(version):
            kind, parts = our_type(one.type, version)
            found.append(
                (
                    one.wire_name.lower(),
                    kind,
                    one.nullable_in(version),
                    one.options.tag,
                    one.options.compact,
                    parts,
                )
            )
    return found


def our_type(wire_type: WireType, version: int) -> tuple[str, list[Any] | None]:
    if isinstance(wire_type, Array):
        kind, parts = our_type(wire_type.element, version)
        return f"[]{kind}", parts
    if isinstance(wire_type, Nested):
        return "struct", our_fields(wire_type.of, version)
    return wire_type.name, None


def our_default(one: Field) -> Any:
    default = one.options.default
    return "its own" if isinstance(default, type) else default


def compare_defaults(
    schema: dict[str, Any], fields: list[dict[str, Any]], cls: type, path: str
) -> list[str]:
    """Where a default of ours is not theirs, or a field that has one of theirs demands a value."""
    shared = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
    ours = {one.wire_name.lower(): one for one in fields_of(cls)}
    wrong = []
    for field in fields:
        one = ours.get(field["name"].lower())
        if one is None:
            continue
        where = f"{path}.{field['name']}"
        expected = their_default(field, nullable_ever=bool(field.get("nullableVersions")))
        if one.required and field.get("default") is not None:
            wrong.append(f"{where} demands a value, theirs is {expected!r}")
        if not one.required and our_default(one) != expected:
            wrong.append(f"{where} is {our_default(one)!r}, theirs is {expected!r}")
        if one.options.ignorable and not field.get("ignorable"):
            wrong.append(f"{where} is ignorable here only")
        inner = field["type"].removeprefix("[]")
        if inner[0].isupper():
            element = one.type.element if isinstance(one.type, Array) else one.type
            assert isinstance(element, Nested)
            parts = field.get("fields") or shared[inner]
            wrong += compare_defaults(schema, parts, element.of, where)
    return wrong


def test_both_sides_know_the_same_messages(schemas):
    assert sorted(schemas) == sorted(MESSAGES)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_version_has_the_same_fields(name, schemas):
    schema = schemas[name]
    declared = declaration_of(MESSAGES[name])
    assert declared.kind == schema["type"]
    assert declared.key == schema.get("apiKey")
    assert declared.versions == versions(schema["validVersions"])
    assert declared.latest_unstable == schema.get("latestVersionUnstable", False)
    flexible = versions(schema.get("flexibleVersions"))
    for version in declared.versions:
        assert declared.is_flexible(version) == (version in flexible)
        ours = our_fields(MESSAGES[name], version)
        assert ours == their_fields(schema, schema["fields"], version), f"version {version}"


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_default_is_the_same(name, schemas):
    schema = schemas[name]
    assert compare_defaults(schema, schema["fields"], MESSAGES[name], name) == []


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_field_that_some_version_lacks_is_ignorable_where_theirs_is(name, schemas):
    schema = schemas[name]
    shared = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
    wrong = []

    def walk(fields: list[dict[str, Any]], cls: type, valid: range) -> None:
        ours = {one.wire_name.lower(): one for one in fields_of(cls)}
        for field in fields:
            one = ours.get(field["name"].lower())
            if one is None:
                continue
            theirs = versions(field.get("versions", field.get("taggedVersions")))
            lacking = any(version not in theirs for version in valid)
            if lacking and one.options.ignorable != field.get("ignorable", False):
                wrong.append(field["name"])
            inner = field["type"].removeprefix("[]")
            if inner[0].isupper():
                element = one.type.element if isinstance(one.type, Array) else one.type
                parts = field.get("fields") or shared[inner]
                within = [version for version in valid if version in theirs]
                walk(parts, element.of, range(within[0], within[-1] + 1))

    walk(schema["fields"], MESSAGES[name], declaration_of(MESSAGES[name]).versions)
    assert wrong == []


def test_the_table_of_apis_is_theirs(schemas):
    requests = {s["apiKey"]: s for s in schemas.values() if s["type"] == "request"}
    assert sorted(apis.APIS) == sorted(requests)
    for key, api in apis.APIS.items():
        schema = requests[key]
        assert f"{api.name}Request" == schema["name"]
        assert range(api.lowest, api.highest + 1) == versions(schema["validVersions"])
        listeners = {listener.name.lower() for listener in api.listeners}
        assert listeners == set(schema["listeners"])


def test_the_error_codes_are_theirs(tmp_path):
    peer.require_jars()
    source = tmp_path / "Codes.java"
    source.write_text(
        "import org.apache.kafka.common.protocol.Errors;\n"
        "import org.apache.kafka.common.errors.RetriableException;\n"
        "public class Codes { public static void main(String[] a) {\n"
        'for (Errors e : Errors.values()) System.out.println(e.code() + " " + e.name() + " "\n'
        "+ (e.exception() instanceof RetriableException)); } }\n"
    )
    try:
        printed = peer.run_tool(str(source))
    except peer.PeerUnavailable as reason:
        pytest.skip(f"NOT CHECKED: {reason}")
    theirs = [line.split() for line in printed.splitlines()]
    ours = [[str(c.value), c.name, str(c.retriable).lower()] for c in ErrorCode]
    assert theirs == ours
