"""The four codecs of a batch's records: what Java's and C's clients write can be read, and the reverse.

Each codec's library is imported with its first use. Contexts live for one call, so any thread may call.

Invariants
  I1  Output never grows beyond `limit`, and memory for it is taken as it is produced or as the compressed bytes can
      really fill it, never on the word of a length field alone.
  I2  Several gzip members, lz4 frames or zstd frames in a row decompress to their concatenation.
  I3  Truncated input and bytes left over are errors.
See        docs/decisions/0005-codecs.md, docs/formats/record-batch.md
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Final

from quire.errors import CorruptBatchError
from quire.records.record import Buffer


class Compression(IntEnum):
    """The codec of a batch: bits 0-2 of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class OversizedBatchError(CorruptBatchError):
    """Records that would decompress to more than the bound: a bomb, or a bound set too low."""


XERIAL_HEADER: Final = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" + b"\x00\x00\x00\x01"
"""Magic, version 1, oldest compatible version 1: the framing of Java's snappy streams."""
_XERIAL_MAGIC: Final = XERIAL_HEADER[:8]
_XERIAL_BLOCK_SIZE: Final = 32 * 1024

_GZIP_WINDOW: Final = 31  # 15 bits of window; 16 more ask zlib for the gzip container
_CHUNK_SIZE: Final = 64 * 1024

# The most that one compressed byte can stand for, by format.
_SNAPPY_RATIO_MAX: Final = 22  # three bytes copy 64
_LZ4_RATIO_MAX: Final = 256  # one byte more of length adds 255
_ZSTD_BLOCK_SIZE_MAX: Final = 128 * 1024
_ZSTD_RUN_LENGTH_BLOCK: Final = 1
_ZSTD_COMPRESSED_BLOCK: Final = 2
_ZSTD_SIZE_UNKNOWN: Final = 2**64 - 2  # or -1: not written, or not a number
_ZSTD_SKIPPABLE_MAGIC: Final = 0x184D2A50  # and the 15 numbers after it


def compress(codec: Compression, data: Buffer, level: int | None = None) -> bytes:
    """`data` as one gzip member, xerial snappy stream, lz4 frame or zstd frame."""
    if codec is Compression.GZIP:
        stream = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, _GZIP_WINDOW)
        return stream.compress(data) + stream.flush()
    if codec is Compression.SNAPPY:
        return _compress_snappy(data)
    if codec is Compression.LZ4:
        from lz4 import frame  # noqa: PLC0415 # imported with the first use, as all codecs

        compressed: bytes = frame.compress(
            data,
            compression_level=0 if level is None else level,
            block_size=frame.BLOCKSIZE_MAX64KB,
            block_linked=False,
            content_checksum=False,
            store_size=False,
        )
        return compressed
    if codec is Compression.ZSTD:
        from zstandard import ZstdCompressor  # noqa: PLC0415

        return ZstdCompressor(level=3 if level is None else level).compress(data)
    return bytes(data)


def decompress(codec: Compression, data: Buffer, *, limit: int) -> bytes:
    """The bytes behind `data`; OversizedBatchError above `limit`, CorruptBatchError for broken input."""
    if codec is Compression.GZIP:
        return _decompress_gzip(data, limit)
    if codec is Compression.SNAPPY:
        return _decompress_snappy(bytes(data), limit)
    if codec is Compression.LZ4:
        return _decompress_lz4(data, limit)
    if codec is Compression.ZSTD:
        return _decompress_zstd(bytes(data), limit)
    if len(data) > limit:
        raise _oversized(codec, limit)
    return bytes(data)


def _oversized(codec: Compression, limit: int) -> OversizedBatchError:
    return OversizedBatchError(f"{codec.name.lower()} records are larger than {limit} bytes")


def _broken(codec: Compression, why: object) -> CorruptBatchError:
    return CorruptBatchError(f"{codec.name.lower()} records cannot be decompressed: {why}")


# --- gzip ------------------------------------------------------------------------------------


def _decompress_gzip(data: Buffer, limit: int) -> bytes:
    pieces = []
    size = 0
    rest: Buffer = data
    while True:
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            try:
                piece = member.decompress(rest, limit - size + 1)
            except zlib.error as failure:
                raise _broken(Compression.GZIP, failure) from failure
            size += len(piece)
            if size > limit:
                raise _oversized(Compression.GZIP, limit)
            if not piece and not member.eof:
                raise _broken(Compression.GZIP, "the stream is cut short")
            pieces.append(piece)
            rest = member.unconsumed_tail
        rest = member.unused_data
        if not rest:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


# --- snappy ----------------------------------------------------------------------------------


def _compress_snappy(data: Buffer) -> bytes:
    from cramjam import snappy  # noqa: PLC0415

    out = bytearray(XERIAL_HEADER)
    content = bytes(data)
    for start in range(0, len(content), _XERIAL_BLOCK_SIZE):
        block = bytes(snappy.compress_raw(content[start : start + _XERIAL_BLOCK_SIZE]))
        out += len(block).to_bytes(4, "big")
        out += block
    return bytes(out)


def _decompress_snappy(data: bytes, limit: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _decompress_snappy_block(data, limit, limit)
    if len(data) < len(XERIAL_HEADER):
        raise _broken(Compression.SNAPPY, "the xerial header is cut short")
    pieces = []
    size = 0
    position = len(XERIAL_HEADER)
    while position < len(data):
        length = int.from_bytes(data[position : position + 4], "big")
        position += 4
        if length > len(data) - position:
            raise _broken(Compression.SNAPPY, f"a block claims {length} bytes, too many")
        block = data[position : position + length]
        position += length
        piece = _decompress_snappy_block(block, limit - size, limit)
        size += len(piece)
        pieces.append(piece)
    return b"".join(pieces)


def _decompress_snappy_block(block: bytes, remaining: int, limit: int) -> bytes:
    from cramjam import DecompressionError, snappy  # noqa: PLC0415

    try:
        size = snappy.decompress_raw_len(block)
        if size > remaining:
            raise _oversized(Compression.SNAPPY, limit)
        if size > len(block) * _SNAPPY_RATIO_MAX:
            raise _broken(Compression.SNAPPY, f"{len(block)} bytes claim to hold {size}")
        return bytes(snappy.decompress_raw(block))
    except DecompressionError as failure:
        raise _broken(Compression.SNAPPY, failure) from failure


# --- lz4 -------------------------------------------------------------------------------------


def _decompress_lz4(data: Buffer, limit: int) -> bytes:
    from lz4 import frame  # noqa: PLC0415

    pieces = []
    size = 0
    rest: Buffer = data
    while True:
        decompressor = frame.LZ4FrameDecompressor()
        bound = len(rest) * _LZ4_RATIO_MAX
        while not decompressor.eof:
            room = min(limit - size, bound) + 1
            try:
                piece = decompressor.decompress(rest, max_length=room)
            except (RuntimeError, EOFError) as failure:
                raise _broken(Compression.LZ4, failure) from failure
            rest = b""
            size += len(piece)
            if size > limit:
                raise _oversized(Compression.LZ4, limit)
            if not decompressor.eof and (not piece or decompressor.needs_input):
                raise _broken(Compression.LZ4, "the frame is cut short")
            pieces.append(piece)
        rest = decompressor.unused_data or b""
        if not rest:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


# --- zstd ------------------------------------------------------------------------------------


def _decompress_zstd(data: bytes, limit: int) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415

    pieces = []
    size = 0
    try:
        for frame, bound in _iterate_zstd_frames(data):
            decompressor = ZstdDecompressor()
            if bound <= limit - size:
                piece = decompressor.decompress(frame, max_output_size=max(bound, 1))
            else:
                with decompressor.stream_reader(frame) as reader:
                    piece = _read_bounded(reader.read, limit - size)
            size += len(piece)
            if size > limit:
                raise _oversized(Compression.ZSTD, limit)
            pieces.append(piece)
    except (ZstdError, MemoryError) as failure:
        raise _broken(Compression.ZSTD, failure) from failure
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _read_bounded(read: Callable[[int], bytes], limit: int) -> bytes:
    """All that `read` gives, in chunks, stopping just beyond `limit`."""
    pieces = []
    size = 0
    while size <= limit and (piece := read(_CHUNK_SIZE)):
        size += len(piece)
        pieces.append(piece)
    return b"".join(pieces)


def _iterate_zstd_frames(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Each whole frame, and the most that its blocks can decompress to.

    The library takes a frame cut short for its end when it streams, so the blocks are counted here.
    """
    from zstandard import frame_header_size, get_frame_parameters  # noqa: PLC0415

    position = 0
    while position < len(data):
        rest = data[position:]
        if int.from_bytes(rest[:4], "little") & ~0xF == _ZSTD_SKIPPABLE_MAGIC:
            position += 8 + int.from_bytes(rest[4:8], "little")
            continue
        parameters = get_frame_parameters(rest)
        size, bound = _measure_zstd_blocks(rest, frame_header_size(rest))
        size += 4 if parameters.has_checksum else 0
        if size > len(rest):
            raise _broken(Compression.ZSTD, "the frame is cut short")
        if bound < parameters.content_size < _ZSTD_SIZE_UNKNOWN:
            raise _broken(Compression.ZSTD, f"{size} bytes claim to hold {parameters.content_size}")
        yield rest[:size], bound
        position += size
    if position != len(data) or not data:
        raise _broken(Compression.ZSTD, "the frame is cut short")


def _measure_zstd_blocks(frame: bytes, position: int) -> tuple[int, int]:
    """Where the blocks of a frame end, and the most that they decompress to."""
    bound = 0
    last = False
    while not last:
        if position + 3 > len(frame):
            raise _broken(Compression.ZSTD, "the frame is cut short")
        head = int.from_bytes(frame[position : position + 3], "little")
        last = bool(head & 1)
        kind, size = (head >> 1) & 3, head >> 3
        position += 3 + (1 if kind == _ZSTD_RUN_LENGTH_BLOCK else size)
        bound += _ZSTD_BLOCK_SIZE_MAX if kind == _ZSTD_COMPRESSED_BLOCK else size
    return position, bound
