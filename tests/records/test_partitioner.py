import pytest

from quire.records.partitioner import murmur2, partition_for_key


@pytest.mark.parametrize(
    ("key", "digest"),
    [(b"abc", 479470107), (b"21", -973932308), (b"foobar", -790332482)],
)
def test_keys_have_the_digests_that_java_gives_them(key: bytes, digest: int) -> None:
    assert murmur2(key) == digest


def test_a_negative_digest_still_names_a_partition() -> None:
    assert partition_for_key(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7
    assert {partition_for_key(b"key %d" % number, 5) for number in range(100)} == set(range(5))
    assert partition_for_key(b"", 1) == 0
