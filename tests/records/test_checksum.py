from quire.records.checksum import crc32c


def test_the_checksum_is_castagnolis() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0
    assert crc32c(memoryview(bytearray(b"0123456789"))[1:]) == 0xE3069283
