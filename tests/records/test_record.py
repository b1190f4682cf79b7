import pytest

from quire.errors import CorruptBatchError
from quire.records.record import Fault, Record, record_fault


def test_a_record_needs_no_headers() -> None:
    assert Record(1, 2, None, b"v").headers == ()


@pytest.mark.parametrize("fault", Fault)
def test_every_fault_has_a_sentence_that_names_record_and_byte(fault: Fault) -> None:
    error = record_fault(fault, 3, 17)
    assert isinstance(error, CorruptBatchError)
    assert str(error).startswith("record 3: ")
    assert str(error).endswith("(byte 17 of the records)")
    assert len({str(record_fault(one, 0, 0)) for one in Fault}) == len(Fault)
