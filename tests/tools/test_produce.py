from __future__ import annotations

import pytest

from quire.clients.writer import Unsent
from quire.tools.asking import SettingError
from quire.tools.produce import from_json, from_lines


def test_a_line_is_a_record_whatever_ends_it() -> None:
    found = list(from_lines([b"a\n", b"b\r\n", b"\n", b"c"], None))
    assert [one.value for one in found] == [b"a", b"b", b"", b"c"]
    assert {one.key for one in found} == {None}


def test_what_stands_before_the_first_separator_is_the_key() -> None:
    assert list(from_lines([b"k:v:w\n", b":v"], b":")) == [Unsent(b"k", b"v:w"), Unsent(b"", b"v")]


def test_a_line_without_its_separator_is_named() -> None:
    with pytest.raises(SettingError, match="line 2"):
        list(from_lines([b"k:v", b"nothing"], b":"))


def test_a_json_line_brings_everything_with_it() -> None:
    line = b'{"key": "k", "value": {"a": 1}, "headers": {"h": "1", "n": null}, "timestamp": 7, "partition": 2}'
    expected = Unsent(b"k", b'{"a": 1}', (("h", b"1"), ("n", None)), 7, 2)
    assert list(from_json([line, b'{"value": null}'])) == [expected, Unsent(None, None)]


@pytest.mark.parametrize("line", [b"no", b"[1]", b"{"])
def test_a_line_that_is_no_object_is_named(line) -> None:
    with pytest.raises(SettingError, match="line 1"):
        list(from_json([line]))
