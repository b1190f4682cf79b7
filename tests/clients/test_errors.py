from __future__ import annotations

import pytest

from quire.clients.errors import AnswerError, expect
from quire.errors import ErrorCode


def test_no_error_is_no_exception() -> None:
    expect(0, "anything")


def test_an_error_names_what_was_tried_and_the_code_and_the_reason() -> None:
    with pytest.raises(AnswerError, match="topic t: INVALID_CONFIG: no such setting") as caught:
        expect(40, "topic t", "no such setting")
    assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_a_code_from_the_future_is_an_unknown_error() -> None:
    with pytest.raises(AnswerError, match="UNKNOWN_SERVER_ERROR"):
        expect(9999, "anything")
