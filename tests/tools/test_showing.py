from __future__ import annotations

import json

from quire.tools.showing import moment, show_one, show_rows

ROWS = [{"name": "orders", "isr": [1, 2], "internal": False, "leader": None}]


def test_a_table_has_a_line_for_each_row_under_its_names(capsys) -> None:
    show_rows(ROWS, "text")
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "isr", "internal", "leader"]
    assert line.split() == ["orders", "1,2", "no", "-"]


def test_json_is_the_rows_themselves(capsys) -> None:
    show_rows(ROWS, "json")
    assert json.loads(capsys.readouterr().out) == ROWS
    show_one({"a": {"b": 1}}, "json")
    assert json.loads(capsys.readouterr().out) == {"a": {"b": 1}}


def test_no_rows_are_said_in_words(capsys) -> None:
    show_rows([], "text", empty="no topics")
    assert capsys.readouterr().out == "no topics\n"


def test_one_thing_has_a_line_for_each_fact(capsys) -> None:
    show_one({"topic": "orders", "settings": {"a": "1"}, "none": {}}, "text")
    assert capsys.readouterr().out.splitlines() == [
        "topic     orders",
        "settings  a=1",
        "none      -",
    ]


def test_a_moment_is_told_in_utc_and_an_unknown_one_is_none() -> None:
    assert moment(1_600_000_000_005) == "2020-09-13T12:26:40.005Z"
    assert moment(-1) is None
