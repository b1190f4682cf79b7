import pytest

from quire.records import implementation, reference
from quire.records.batch import Record, decode_batch, encode_batch


def test_the_switch_changes_what_runs_and_what_is_shown() -> None:
    before = implementation.NAME
    implementation.use("reference")
    assert implementation.NAME == "pure Python"
    assert implementation.decode_records is reference.decode_records
    if before == "cython kernel":
        implementation.use("kernel")
        assert implementation.decode_records is not reference.decode_records
    assert before == implementation.NAME


def test_without_a_kernel_asking_for_it_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(implementation, "KERNEL_BUILT", False)
    with pytest.raises(ImportError, match="was not built"):
        implementation.use("kernel")


def test_batches_go_through_the_chosen_implementation(chosen_implementation: str) -> None:
    shown = {"reference": "pure Python", "kernel": "cython kernel"}[chosen_implementation]
    assert shown == implementation.NAME
    records = [Record(0, 1, b"k", b"v", (("h", None),))]
    assert decode_batch(encode_batch(records)) == records
