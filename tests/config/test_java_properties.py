from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.config.java_properties import format_properties, parse_properties

texts = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", {}),
        (b"a=1\nb = 2\n c:3\nd 4\ne", {"a": "1", "b": "2", "c": "3", "d": "4", "e": ""}),
        (b"# a=1\n  ! b=2\n\n \t\nc=3", {"c": "3"}),
        (b"a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        (b"a=1\\\n   2\\\n#3\nb=4", {"a": "12#3", "b": "4"}),
        (b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (b"a\\ b\\=c = d = e ", {"a b=c": "d = e "}),
        (b"a=\\u0041\\t\\n\\q\\\\", {"a": "A\t\nq\\"}),
        (b"a=1\na=2", {"a": "2"}),
        (b"a=1\\", {"a": "1"}),
        (b"\\\na=1", {"a": "1"}),
        (b"a=\xe9", {"a": "\u00e9"}),
        (b"a==1", {"a": "=1"}),
    ],
)
def test_a_text_is_read_as_java_reads_it(text: bytes, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


@pytest.mark.parametrize("text", [b"a=\\u12", b"a=\\u12_4", b"a=\\uxyzw", b"a=\\u+123"])
def test_a_broken_escape_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match="broken escape"):
        parse_properties(text)


def test_special_characters_are_escaped_as_java_escapes_them() -> None:
    assert format_properties({"a b:c": " x = y #\u20ac\u00e9\n"}, "note") == (
        b"#note\na\\ b\\:c=\\ x \\= y \\#\\u20AC\\u00E9\\n\n"
    )


@given(properties=st.dictionaries(texts.filter(bool), texts, max_size=5))
def test_what_is_written_reads_back(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties, "")) == properties


@given(data=st.binary(max_size=60))
def test_any_bytes_are_properties_or_a_value_error(data: bytes) -> None:
    try:
        properties = parse_properties(data)
    except ValueError:
        return
    assert all(isinstance(value, str) for value in properties.values())
