import gzip

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from lz4 import frame

from quire.errors import CorruptBatchError
from quire.records.compression import (
    XERIAL_HEADER,
    Compression,
    OversizedBatchError,
    compress,
    decompress,
)

CODECS = [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD]
LIMIT = 1 << 20
TEXT = b"".join(b"line %d of some text\n" % number for number in range(5000))


@given(st.sampled_from(Compression), st.binary(max_size=300), st.integers(0, 400))
def test_what_is_compressed_decompresses_to_itself(
    codec: Compression, data: bytes, repeat: int
) -> None:
    content = data * repeat
    packed = compress(codec, memoryview(content))
    assert decompress(codec, memoryview(packed), limit=LIMIT) == content
    assert decompress(codec, bytearray(packed), limit=len(content)) == content


@pytest.mark.parametrize("codec", CODECS)
def test_nothing_decompresses_beyond_its_limit(codec: Compression) -> None:
    bomb = compress(codec, bytes(LIMIT))
    assert len(bomb) < LIMIT // 10
    assert len(decompress(codec, bomb, limit=LIMIT)) == LIMIT
    for limit in (0, 1, 70_000, LIMIT - 1):
        with pytest.raises(OversizedBatchError, match=f"larger than {limit} bytes"):
            decompress(codec, bomb, limit=limit)


def test_records_without_codec_are_bounded_too() -> None:
    assert decompress(Compression.NONE, b"abc", limit=3) == b"abc"
    with pytest.raises(OversizedBatchError):
        decompress(Compression.NONE, b"abc", limit=2)


@pytest.mark.parametrize("codec", CODECS)
def test_every_cut_is_an_error(codec: Compression) -> None:
    packed = compress(codec, TEXT[:300])
    whole_prefixes = []
    for cut in range(len(packed)):
        try:
            whole_prefixes.append((cut, decompress(codec, packed[:cut], limit=LIMIT)))
        except CorruptBatchError:
            continue
    # A xerial stream without blocks is an empty stream; nothing else has a whole prefix.
    expected = [(len(XERIAL_HEADER), b"")] if codec is Compression.SNAPPY else []
    assert whole_prefixes == expected


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CODECS), st.data())
def test_damaged_input_is_a_typed_error_or_other_bytes_within_the_limit(
    codec: Compression, data: st.DataObject
) -> None:
    packed = bytearray(compress(codec, TEXT[:2000]))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    try:
        size = len(decompress(codec, packed, limit=LIMIT))
    except CorruptBatchError as failure:
        message = str(failure)
    else:
        assert size <= LIMIT
        return
    assert codec.name.lower() in message


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CODECS), st.binary(max_size=60))
def test_random_input_is_a_typed_error_or_bytes_within_the_limit(
    codec: Compression, data: bytes
) -> None:
    try:
        size = len(decompress(codec, data, limit=5000))
    except CorruptBatchError as failure:
        message = str(failure)
    else:
        assert size <= 5000
        return
    assert codec.name.lower() in message


def test_bytes_after_the_end_are_an_error() -> None:
    for codec in CODECS:
        with pytest.raises(CorruptBatchError):
            decompress(codec, compress(codec, TEXT) + b"\x01\x02\x03", limit=LIMIT)


def test_gzip_members_zstd_frames_and_lz4_frames_may_follow_each_other() -> None:
    assert (
        decompress(Compression.GZIP, gzip.compress(b"ab") + gzip.compress(b"c"), limit=9) == b"abc"
    )
    for codec in (Compression.LZ4, Compression.ZSTD):
        packed = compress(codec, b"ab") + compress(codec, b"") + compress(codec, b"c")
        assert decompress(codec, packed, limit=9) == b"abc"


def test_snappy_is_read_with_and_without_the_xerial_framing() -> None:
    framed = compress(Compression.SNAPPY, TEXT)
    assert framed.startswith(b"\x82SNAPPY\x00\0\0\0\x01\0\0\0\x01")
    assert decompress(Compression.SNAPPY, framed, limit=LIMIT) == TEXT
    block = framed[20 : 20 + int.from_bytes(framed[16:20], "big")]
    assert decompress(Compression.SNAPPY, block, limit=LIMIT) == TEXT[: 32 * 1024]


def test_a_snappy_block_that_claims_too_much_allocates_nothing() -> None:
    with pytest.raises(CorruptBatchError, match="claim to hold"):
        decompress(Compression.SNAPPY, b"\x80\x80\x80\x01\x00", limit=1 << 30)


def test_lz4_frames_are_as_javas() -> None:
    packed = compress(Compression.LZ4, TEXT)
    assert packed[:6] == b"\x04\x22\x4d\x18\x60\x40"
    assert frame.decompress(packed) == TEXT


def test_an_lz4_frame_that_claims_a_huge_content_is_bounded() -> None:
    packed = bytearray(frame.compress(b"abc", store_size=True))
    packed[6:14] = (1 << 50).to_bytes(8, "little")
    with pytest.raises(CorruptBatchError):
        decompress(Compression.LZ4, packed, limit=1 << 30)


def test_zstd_frames_are_read_without_content_size_with_checksum_and_between_skippable_ones() -> (
    None
):
    streamed = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
    checked = zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)
    skipped = b"\x53\x2a\x4d\x18\x03\x00\x00\x00abc"
    packed = skipped + streamed + skipped + checked
    assert decompress(Compression.ZSTD, packed, limit=LIMIT) == TEXT + TEXT


def test_a_zstd_frame_that_claims_more_than_its_blocks_hold_is_refused() -> None:
    packed = bytearray(zstandard.ZstdCompressor().compress(bytes(1 << 17)))
    parameters = zstandard.get_frame_parameters(bytes(packed))
    assert parameters.content_size == 1 << 17
    packed[5:9] = (1 << 31).to_bytes(4, "little")
    with pytest.raises(CorruptBatchError, match=r"claim to hold|cannot be decompressed"):
        decompress(Compression.ZSTD, packed, limit=1 << 32)


@pytest.mark.parametrize(("codec", "level"), [(c, level) for c in CODECS for level in (1, 9)])
def test_levels_are_heeded(codec: Compression, level: int) -> None:
    packed = compress(codec, TEXT, level)
    assert decompress(codec, packed, limit=LIMIT) == TEXT
