"""The example and the tables in docs/formats/transaction-state.md are what the room reads and writes."""

from __future__ import annotations

import re
from pathlib import Path

from quire.protocol.messages.transaction_state import TransactionLogValue
from quire.protocol.schema import fields_of
from quire.transactions.log import read_key, read_value, written
from quire.transactions.states import BY_NAME, NAMES, PREVIOUS, State
from quire.transactions.transaction import Transaction
from quire.types import TopicPartition

DOCUMENT = (Path(__file__).parents[2] / "docs" / "formats" / "transaction-state.md").read_text()


def test_the_example_is_what_we_write_and_read() -> None:
    found = re.search(r"```hex\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    key, value = (bytes.fromhex(line) for line in found.group(1).strip().splitlines())
    one = Transaction(
        producer_id=5,
        epoch=1,
        timeout_ms=60_000,
        state=State.PREPARE_COMMIT,
        partitions=(TopicPartition("g-txn", 0),),
        started_ms=1_795_029_619_691,
        updated_ms=1_795_029_620_164,
        previous_producer_id=5,
        client_version=2,
    )
    assert written("tx-J", one, transaction_version=2) == (key, value)
    assert (read_key(key), read_value(value)) == ("tx-J", one)


def test_the_table_of_states_is_that_of_the_room() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+) \| (.*?) \|$", DOCUMENT, re.MULTILINE)
    assert [(int(number), name) for number, name, _ in rows] == [
        (state.value, NAMES[state]) for state in State
    ]
    for number, _, follows in rows:
        if "never written" not in follows:
            named = {BY_NAME[name] for name in re.findall(r"[A-Z]\w+", follows)}
            assert named == set(PREVIOUS[State(int(number))])


def test_the_table_of_fields_names_them_all() -> None:
    table = DOCUMENT[
        DOCUMENT.index("| type | field | from |") : DOCUMENT.index("\n| status | | follows |")
    ]
    assert len(table.strip().splitlines()) - 2 == len(fields_of(TransactionLogValue))
