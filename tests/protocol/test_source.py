"""Source under construction: indentation, names, constants and sizes."""

from __future__ import annotations

from quire.protocol.messages.fetch import FetchPartition, FetchRequest
from quire.protocol.schema import Array, Int32, Scalar, Variable, field, structure
from quire.protocol.source import Source, function_name


@structure
class Mixed:
    number: Int32
    text: str = field(since=2, default="")
    later: Int32 = field(since=3, tag=1, default=0)
    first: Int32 = field(since=3, tag=0, default=0)


def test_blocks_indent_and_lines_know_their_field():
    source = Source(0, flexible=False)
    with source.block("if x:"), source.at("a"), source.at("b"):
        source.line("y = 1")
    source.line("z = 2")
    assert source.lines == ["if x:", "    y = 1", "z = 2"]
    assert source.paths == ["", "a.b", ""]


def test_names_are_fresh_and_constants_are_shared():
    source = Source(0, flexible=False)
    assert source.fresh("n") != source.fresh("n")
    assert source.constant("C", FetchRequest) == source.constant("C", FetchRequest)
    assert source.constant("C", FetchPartition) != source.constant("C", FetchRequest)


def test_fields_are_split_by_presence_and_sorted_by_tag():
    source = Source(3, flexible=True)
    assert [one.name for one in source.present(Mixed)] == ["number", "text"]
    assert [one.name for one in source.tagged(Mixed)] == ["first", "later"]
    assert [one.name for one in Source(1, flexible=False).absent(Mixed)] == [
        "text",
        "later",
        "first",
    ]


def test_the_smallest_sizes_are_those_of_the_wire():
    old, new = Source(2, flexible=False), Source(2, flexible=True)
    uuid = Scalar("uuid", "16s", 16, bytes(16))
    assert old.smallest(uuid, nullable=False, compact=False) == 16
    assert old.smallest(Variable("string"), nullable=True, compact=True) == 2
    assert old.smallest(Variable("bytes"), nullable=True, compact=True) == 4
    assert new.smallest(Array(uuid), nullable=False, compact=True) == 1
    assert new.smallest(Variable("string"), nullable=False, compact=False) == 2
    assert old.smallest_structure(Mixed) == 6
    assert new.smallest_structure(Mixed) == 6


def test_struct_letters_become_names():
    assert function_name("i?16s") == "it16s"
