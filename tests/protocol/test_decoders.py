"""The shape of generated readers: fused where widths are fixed, checked where they are not."""

from __future__ import annotations

from quire.protocol.decoders import write_decoder
from quire.protocol.messages.fetch import FetchRequest, FetchResponse
from quire.protocol.messages.list_offsets import ListOffsetsRequest


def text(cls, version, *, flexible):
    return "\n".join(write_decoder(cls, version, flexible=flexible, label="L").lines)


def test_fixed_width_neighbours_and_the_byte_behind_them_are_one_struct():
    source = write_decoder(ListOffsetsRequest, 6, flexible=True, label="L")
    assert "unpack_iiqB" in source.constants
    assert "unpack_ibB" in source.constants


def test_only_messages_with_records_make_a_view():
    assert "view = memoryview(buf)" in text(FetchResponse, 12, flexible=True)
    assert "view = memoryview(buf)" not in text(FetchRequest, 12, flexible=True)


def test_every_count_is_checked_before_its_loop():
    lines = [line.strip() for line in text(FetchResponse, 12, flexible=True).splitlines()]
    loops = [n for n, line in enumerate(lines) if line.startswith("for _ in range(n")]
    checked = [n for n in loops if "raise too_many" in lines[n - 2]]
    tagged = [n for n in loops if lines[n - 2].startswith("tag")]
    assert len(loops) == len(checked) + len(tagged)
    assert len(checked) >= 3


def test_old_versions_read_no_tags():
    assert "unknown_tags, pos" not in text(FetchRequest, 11, flexible=False)
    assert "read_tag" in text(FetchRequest, 12, flexible=True)


def test_every_line_knows_its_field():
    source = write_decoder(FetchRequest, 12, flexible=True, label="L")
    assert len(source.lines) == len(source.paths)
    assert "topics.partitions.tags" in source.paths
