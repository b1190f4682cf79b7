"""Every declared message is found by name, and asking for one imports only its module."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from quire.protocol import messages
from quire.protocol.__main__ import main
from quire.protocol.messages import (
    GROUP_RECORDS,
    MESSAGES,
    METADATA_RECORDS,
    REQUESTS,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
)
from quire.protocol.schema import declaration_of


def declared_messages():
    for found in pkgutil.iter_modules(messages.__path__):
        module = import_module(f"{messages.__name__}.{found.name}")
        for name, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__ and hasattr(cls, "__quire_message__"):
                yield name, cls


def test_the_tables_name_every_declared_message():
    assert dict(declared_messages()) == dict(MESSAGES)
    assert len(REQUESTS) == 89
    assert len(dict(REQUESTS)) == 89


def test_records_are_filed_under_their_own_keys():
    for kind, name in METADATA_RECORDS.items():
        assert declaration_of(MESSAGES[name]).key == kind
    for table in (GROUP_RECORDS, TRANSACTION_RECORDS, SHARE_RECORDS):
        for kind, names in table.items():
            assert [declaration_of(MESSAGES[name]).key for name in names] == [kind, kind]
            assert [declaration_of(MESSAGES[name]).kind for name in names] == [
                "coordinator-key",
                "coordinator-value",
            ]


def test_every_message_has_a_sentence_of_its_own():
    assert [name for name in MESSAGES if not (MESSAGES[name].__doc__ or "").strip()] == []


def test_an_unknown_name_is_a_key_error():
    with pytest.raises(KeyError):
        MESSAGES["NoSuchRequest"]
    with pytest.raises(KeyError):
        REQUESTS[4]


def test_looking_up_one_message_imports_one_module():
    program = (
        "import sys; from quire.protocol.messages import MESSAGES; MESSAGES['FetchRequest'];"
        "print([n for n in sys.modules if n.startswith('quire.protocol.messages.')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ).stdout
    assert printed.strip() == "['quire.protocol.messages.fetch']"


def test_the_generated_source_is_printed_on_request(capsys):
    assert main(["FetchRequest", "12"]) == 0
    assert "def decode(buf, pos=0):" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [[], ["FetchRequest"], ["NoSuch", "1"], ["FetchRequest", "x"], ["FetchRequest", "99"]],
)
def test_a_wrong_call_is_told_how_to_do_it(arguments, capsys):
    assert main(arguments) == 2
    assert "usage:" in capsys.readouterr().err
