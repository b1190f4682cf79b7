"""The text form of Java's Properties: `name=value` lines with comments, continuations, escapes.

See        docs/formats/log-directory.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}
_HEX = re.compile("[0-9a-fA-F]{4}")
_BLANKS = " \t\f"
_SEPARATORS = "=:"


def parse_properties(data: bytes) -> dict[str, str]:
    """Every property, the last of a name winning; ValueError for a broken unicode escape."""
    properties: dict[str, str] = {}
    for line in _logical_lines(data.decode("latin-1")):
        name, rest = _split_name(line)
        properties[_unescape(name)] = _unescape(rest)
    return properties


def format_properties(properties: Mapping[str, str], comment: str) -> bytes:
    """The lines that Java reads back as these properties, below one comment line."""
    lines = [f"#{comment}"]
    for name, value in properties.items():
        lines.append(f"{_escape(name, is_name=True)}={_escape(value, is_name=False)}")
    return ("\n".join(lines) + "\n").encode("latin-1")


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blanks before them; a backslash at the end joins the next."""
    parts: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        stripped = line.lstrip(_BLANKS)
        if not parts and stripped[:1] in {"", "#", "!"}:
            continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            parts.append(stripped[:-1])
            continue
        yield "".join([*parts, stripped])
        parts.clear()
    if any(parts):
        yield "".join(parts)


def _split_name(line: str) -> tuple[str, str]:
    """The name ends at the first `=`, `:` or blank that no backslash protects."""
    end = 0
    while end < len(line) and line[end] not in _SEPARATORS + _BLANKS:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] and rest[0] in _SEPARATORS:
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\" or position == len(text):
            parts.append(character if character != "\\" else "")
            continue
        escaped = text[position]
        position += 1
        if escaped == "u":
            digits = text[position : position + 4]
            if not _HEX.fullmatch(digits):
                raise ValueError(f"broken escape \\u{digits}")
            parts.append(chr(int(digits, 16)))
            position += 4
        else:
            parts.append(_ESCAPES.get(escaped, escaped))
    return "".join(parts)


def _escape(text: str, *, is_name: bool) -> str:
    parts: list[str] = []
    for position, character in enumerate(text):
        if character in _ESCAPED:
            parts.append(_ESCAPED[character])
        elif character in "=:#!" or (character == " " and (is_name or position == 0)):
            parts.append("\\" + character)
        elif " " <= character <= "~":
            parts.append(character)
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            parts.extend(f"\\u{units[i : i + 2].hex().upper()}" for i in range(0, len(units), 2))
    return "".join(parts)
