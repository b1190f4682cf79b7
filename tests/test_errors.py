"""The error table: complete, unique, and honest about what may be tried again."""

from __future__ import annotations

import pickle

import pytest

from quire import errors
from quire.errors import ErrorCode, Remedy


def test_every_code_from_minus_one_to_133_has_one_row():
    assert [code.value for code in ErrorCode] == list(range(-1, 134))


def test_no_two_codes_share_a_sentence():
    texts = [code.text for code in ErrorCode]
    assert len(set(texts)) == len(texts)
    assert all(text.endswith(".") for text in texts)


def test_a_code_is_found_by_its_number_and_knows_its_remedy():
    code = ErrorCode(6)
    assert code is errors.Code.NOT_LEADER_OR_FOLLOWER
    assert code.remedy is Remedy.REFRESH_METADATA
    assert code == 6


def test_an_unknown_number_is_an_error_for_us_and_an_unknown_server_error_from_a_peer():
    with pytest.raises(ValueError):
        ErrorCode(4000)
    assert ErrorCode.of(4000) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_what_may_be_retried_follows_from_the_remedy():
    by_remedy = {code.remedy: code.retriable for code in ErrorCode}
    assert by_remedy == {
        Remedy.NONE: False,
        Remedy.RETRY: True,
        Remedy.REFRESH_METADATA: True,
        Remedy.FIND_COORDINATOR: True,
        Remedy.REJOIN: False,
        Remedy.ABORT_TRANSACTION: False,
        Remedy.FENCED: False,
        Remedy.FIX_REQUEST: False,
    }
    assert all(code.retriable == by_remedy[code.remedy] for code in ErrorCode)


def test_codes_survive_pickling():
    assert pickle.loads(pickle.dumps(ErrorCode.NOT_CONTROLLER)) is ErrorCode.NOT_CONTROLLER


def test_errors_say_what_and_where():
    error = errors.ProtocolError("too short", where="FetchRequest v12 topics", position=17)
    assert str(error) == "FetchRequest v12 topics: too short (at byte 17)"
    assert str(errors.CorruptFileError("/d/x", "empty")) == "/d/x: empty"
    corrupt = errors.CorruptBatchError("wrong checksum", path="/d/0.log", position=0)
    assert str(corrupt) == "/d/0.log: wrong checksum (at byte 0)"
    refused = errors.InvalidBatchError(ErrorCode.INVALID_RECORD, "no key")
    assert str(refused) == "INVALID_RECORD: no key"
    assert refused.code is ErrorCode.INVALID_RECORD
