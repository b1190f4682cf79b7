from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.coordination import KeyValue
from quire.errors import ProtocolError
from quire.records.batch import decode_records, iterate_headers
from quire.transactions.log import forgotten, read_key, read_value, written
from quire.transactions.states import State
from quire.transactions.transaction import Transaction
from quire.types import TopicPartition

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean" / "__transaction_state-1"


def golden_records() -> Iterator[KeyValue]:
    content = next(GOLDEN.glob("*.log")).read_bytes()
    for at, header in iterate_headers(content):
        for record in decode_records(content, at, header):
            assert record.key is not None
            yield KeyValue(record.key, record.value)


def test_what_apache_kafka_wrote_is_read_and_written_again_byte_for_byte() -> None:
    states = []
    for record in golden_records():
        name = read_key(record.key)
        assert name in ("tx-A", "tx-J")
        assert record.value is not None
        one = read_value(record.value)
        one.check()
        states.append((name, one.state, one.epoch))
        if (
            len({place.topic for place in one.partitions}) < 2
        ):  # Kafka's order of topics is that of a hash
            assert written(name, one, transaction_version=2) == record
    assert states[0] == ("tx-A", State.EMPTY, 0)
    assert states[-1] == ("tx-J", State.COMPLETE_COMMIT, 2)


def test_before_version_1_is_finalized_values_are_of_version_0() -> None:
    one = Transaction(
        7, 3, 1000, State.ONGOING, (TopicPartition("a", 0), TopicPartition("b", 1)), 5, 6
    )
    for level, version in ((0, 0), (1, 1), (2, 1)):
        record = written("t", one, transaction_version=level)
        assert record.value is not None
        assert int.from_bytes(record.value[:2], "big") == version
        assert read_value(record.value) == one


def test_version_0_forgets_what_it_has_no_place_for() -> None:
    one = Transaction(7, 3, 1000, State.PREPARE_ABORT, (), 5, 6, 7, 9, 2)
    old = written("t", one, transaction_version=0)
    assert old.value is not None
    read = read_value(old.value)
    assert (read.previous_producer_id, read.next_producer_id, read.client_version) == (-1, -1, 0)


def test_an_empty_transaction_has_no_list_of_partitions_a_complete_one_an_empty_list() -> None:
    empty = written("t", Transaction(7, 0, 1000), transaction_version=0).value
    done = Transaction(7, 0, 1000, State.COMPLETE_COMMIT)
    complete = written("t", done, transaction_version=0).value
    assert empty is not None
    assert complete is not None
    assert empty[17:21] == b"\xff\xff\xff\xff"
    assert complete[17:21] == bytes(4)


def test_tombstones_have_a_key_only_and_other_types_of_keys_are_passed_over() -> None:
    assert forgotten("t") == (b"\x00\x00\x00\x01t", None)
    assert read_key(b"\x00\x01\x00\x01t") is None
    assert read_key(b"\x00") is None


@pytest.mark.parametrize("value", [b"", b"\x00", b"\x00\x00", b"\x00\x01abc"])
def test_a_value_that_cannot_be_read_is_an_error(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_value(value)


def test_an_unknown_state_is_an_error() -> None:
    value = written("t", Transaction(7, 0, 1000), transaction_version=0).value
    assert value is not None
    with pytest.raises(ProtocolError, match="there is no state 9"):
        read_value(value[:16] + b"\x09" + value[17:])
