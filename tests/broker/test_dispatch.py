from __future__ import annotations

from importlib import import_module

import pytest

from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE, Row
from quire.protocol.apis import APIS, ApiKey, Listener

TABLES = [(BROKER_TABLE, Listener.BROKER), (CONTROLLER_TABLE, Listener.CONTROLLER)]


@pytest.mark.parametrize(("table", "listener"), TABLES)
def test_a_table_holds_what_its_listeners_serve(
    table: dict[ApiKey, Row], listener: Listener
) -> None:
    assert [key for key in table if listener not in APIS[key].listeners] == []


@pytest.mark.parametrize(("table", "_listener"), TABLES)
def test_a_row_is_named_after_its_api(table: dict[ApiKey, Row], _listener: Listener) -> None:
    assert [(key, row.module) for key, row in table.items() if row.module != key.name.lower()] == []


def test_what_the_controller_answers_for_clients_takes_the_same_right_there() -> None:
    both = BROKER_TABLE.keys() & CONTROLLER_TABLE.keys()
    assert [key for key in both if BROKER_TABLE[key] != CONTROLLER_TABLE[key]] == []


@pytest.mark.parametrize(("table", "_listener"), TABLES)
def test_a_row_has_a_handler(table: dict[ApiKey, Row], _listener: Listener) -> None:
    for row in table.values():
        assert callable(import_module(f"quire.broker.handlers.{row.module}").handle), row
