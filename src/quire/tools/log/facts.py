"""What a dump says: one fact per line, a plain dictionary that is JSON as it stands.

Names of fields are those that kafka-dump-log prints, so that whoever knows them finds them. A fact's `kind` tells
what it is about; a `fault` is a finding that makes the dump end with exit code 1.

Not here   finding facts in files (readers), showing them (text).
"""

from __future__ import annotations

import base64
from typing import Any, TypeAlias

from quire.protocol.schema import Array, Field, Nested, Scalar, WireType, declaration_of, fields_of

Fact: TypeAlias = dict[str, Any]


def fault(path: str, position: int | None, message: str) -> Fact:
    """Something in a file is not as it must be."""
    return {"kind": "fault", "file": path, "position": position, "message": message}


def uuid_text(uuid: bytes) -> str:
    """A uuid as Kafka writes it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def payload(content: bytes | None) -> Any:
    """Bytes of a record as text where they are readable text, else in base64."""
    if content is None:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.isprintable():
        return text
    return {"base64": base64.b64encode(content).decode()}


def message(value: object, version: int) -> Fact:
    """A decoded message as Kafka's own JSON form shows it: wire names, tagged defaults left out."""
    shown: Fact = {}
    cls: type = type(value)
    for field in fields_of(cls):
        if not field.in_version(version):
            continue
        content = getattr(value, field.name)
        if field.options.tag is not None and not field.required and content == field.make_default():
            continue
        shown[_name(field)] = _plain(content, field.type, version)
    return shown


def versioned(value: object, version: int) -> Fact:
    """A decoded message with its version in front."""
    return {"version": version, "data": message(value, version)}


def record_type(cls: type) -> str:
    """`RegisterBrokerRecord` as the metadata log's tools name it: REGISTER_BROKER_RECORD."""
    name = declaration_of(cls).name
    return "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(name)).upper()


def _name(field: Field) -> str:
    return field.wire_name[:1].lower() + field.wire_name[1:]


def _plain(content: Any, wire: WireType, version: int) -> Any:
    if content is None:
        return None
    if isinstance(wire, Array):
        return [_plain(element, wire.element, version) for element in content]
    if isinstance(wire, Nested):
        return message(content, version)
    if isinstance(wire, Scalar):
        return uuid_text(content) if wire.name == "uuid" else content
    if wire.name == "string":
        return content
    return base64.b64encode(bytes(content)).decode()
