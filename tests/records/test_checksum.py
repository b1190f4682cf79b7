import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.records import implementation
from quire.records.checksum import crc32c, crc32c_by_package
from quire.records.record import Buffer

SIZES = st.integers(0, 1200) | st.sampled_from([4031, 4032, 4033, 8064, 8071, 70_000])


@pytest.mark.parametrize("compute", [crc32c, crc32c_by_package])
def test_the_checksum_is_castagnolis(compute) -> None:
    assert compute(b"123456789") == 0xE3069283
    assert compute(b"") == 0
    assert compute(memoryview(bytearray(b"0123456789"))[1:]) == 0xE3069283
    assert compute(b"x123456789y", 1, 10) == 0xE3069283
    assert compute(bytearray(b"x123456789"), 1) == 0xE3069283


@pytest.mark.parametrize("compute", [crc32c, crc32c_by_package])
@pytest.mark.parametrize(("start", "end"), [(-1, 3), (2, 1), (0, 4), (4, None)])
def test_bytes_that_are_not_there_have_no_checksum(compute, start: int, end: int | None) -> None:
    with pytest.raises(ValueError, match="no bytes"):
        compute(b"abc", start, end)


@pytest.mark.skipif(not implementation.KERNEL_BUILT, reason="the kernel was not built")
@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), SIZES, st.integers(0, 9))
def test_every_way_of_this_processor_agrees_with_the_package(chance, size: int, start: int) -> None:
    from quire.records import kernel

    data: Buffer = memoryview(chance.randbytes(size + start))[start:]
    expected = crc32c_by_package(data)
    assert [kernel.crc32c_by(way, data) for way in kernel.CRC32C_WAYS] == [
        expected for _ in kernel.CRC32C_WAYS
    ]


@pytest.mark.skipif(not implementation.KERNEL_BUILT, reason="the kernel was not built")
def test_a_way_that_the_processor_does_not_have_is_refused() -> None:
    from quire.records import kernel

    with pytest.raises(ValueError, match="no way called abacus"):
        kernel.crc32c_by("abacus", b"")


def test_a_large_checksum_is_the_same_without_the_gil() -> None:
    data = bytes(range(256)) * 5000
    assert crc32c(data) == crc32c_by_package(data)
