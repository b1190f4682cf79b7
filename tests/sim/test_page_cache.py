from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.sim.entropy import SeededEntropy
from quire.sim.page_cache import (
    DirectoryNode,
    FileNode,
    NameChange,
    NameEntry,
    lose_power,
    put,
    resize,
)

changes = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=40)),
        st.integers(0, 80),
        st.just("flush"),
    ),
    max_size=12,
)


def _link(directory: DirectoryNode, name: str, node: FileNode) -> None:
    directory.change(NameEntry(NameChange(directory), added=name, node=node))


@given(steps=changes, seed=st.integers(0, 2**32))
def test_flushed_bytes_survive_and_the_rest_is_old_new_or_zero(
    steps: list[tuple[int, bytes] | int | str], seed: int
) -> None:
    file = FileNode()
    flushed = bytearray()
    sizes = [0]
    seen: list[set[int]] = []
    for step in steps:
        if isinstance(step, tuple):
            file.write(*step)
        elif isinstance(step, int):
            file.resize(step)
        else:
            file.flush()
            flushed = bytearray(file.content)
            sizes = []
            seen = []
        sizes.append(len(file.content))
        seen.extend(set[int]() for _ in range(len(file.content) - len(seen)))
        for index, value in enumerate(file.content):
            seen[index].add(value)
    file.lose_power(SeededEntropy(seed))
    assert len(file.content) in sizes
    assert file.content == file.durable
    for index, value in enumerate(file.content):
        old = flushed[index] if index < len(flushed) else 0
        assert value in seen[index] | {old, 0}
    if sizes == [len(flushed)]:
        assert file.content == flushed


def test_every_fate_of_a_write_comes_up() -> None:
    outcomes = set()
    for seed in range(200):
        file = FileNode()
        file.write(0, b"aaaa")
        file.flush()
        file.write(2, b"bbbb")
        file.lose_power(SeededEntropy(seed))
        outcomes.add(bytes(file.content))
    assert {b"aaaa", b"aabbbb", b"aaaa\0\0", b"aabb\0\0", b"aaaabb"} <= outcomes


def test_a_write_behind_a_lost_truncation_does_not_reach_the_old_blocks() -> None:
    for seed in range(200):
        file = FileNode()
        file.write(0, b"a" * 10)
        file.flush()
        file.resize(4)
        file.write(4, b"bbb")
        file.lose_power(SeededEntropy(seed))
        if len(file.content) == 10:
            assert file.content == b"a" * 10


def test_a_renamed_file_is_found_under_one_name_after_any_loss() -> None:
    outcomes = set()
    for seed in range(200):
        directory = DirectoryNode()
        old, new = FileNode(), FileNode()
        _link(directory, "f", old)
        directory.flush()
        _link(directory, "f.tmp", new)
        directory.change(NameEntry(NameChange(directory), "f.tmp", "f", new))
        directory.change(NameEntry(NameChange(directory), "f", "g", new))
        lose_power(directory, SeededEntropy(seed))
        assert sum(node is new for node in directory.names.values()) <= 1
        outcomes.add(tuple(sorted(directory.names)))
    assert {("f",), ("f", "f.tmp"), ("g",), ("f", "g")} <= outcomes


def test_a_rename_across_directories_survives_in_both_or_in_none() -> None:
    outcomes = set()
    for seed in range(100):
        root, left, right = DirectoryNode(), DirectoryNode(), DirectoryNode()
        for name, node in (("left", left), ("right", right)):
            root.change(NameEntry(NameChange(root), added=name, node=node))
        root.flush()
        file = FileNode()
        _link(left, "f", file)
        left.flush()
        change = NameChange(left, right)
        left.change(NameEntry(change, removed="f"))
        right.change(NameEntry(change, added="f", node=file))
        right.flush()
        lose_power(root, SeededEntropy(seed))
        outcomes.add((list(left.names), list(right.names)) == ([], ["f"]))
        assert sorted(left.names) + sorted(right.names) == ["f"]
    assert outcomes == {True, False}


def test_names_flushed_behind_an_unflushed_rename_survive() -> None:
    for seed in range(50):
        left, right = DirectoryNode(), DirectoryNode()
        file = FileNode()
        _link(left, "f", file)
        left.flush()
        change = NameChange(left, right)
        left.change(NameEntry(change, removed="f"))
        right.change(NameEntry(change, added="f", node=file))
        _link(left, "later", FileNode())
        left.flush()
        left.lose_power(SeededEntropy(seed))
        assert "later" in left.names


def test_resize_and_put_fill_with_zeros() -> None:
    content = bytearray(b"ab")
    put(content, 4, b"c")
    assert content == b"ab\0\0c"
    resize(content, 1)
    resize(content, 3)
    assert content == b"a\0\0"
