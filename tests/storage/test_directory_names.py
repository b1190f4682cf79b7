from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.storage.directory_names import (
    DirectoryName,
    Stage,
    is_topic_name,
    parse_directory_name,
    staged_name,
)
from quire.types import TopicPartition

HEX = "0123456789abcdef0123456789abcdef"

topics = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789._-", min_size=1, max_size=249).filter(
    lambda name: name not in {".", ".."}
)
partitions = st.integers(0, 2**31 - 1)
moved = st.sampled_from([Stage.DELETE, Stage.FUTURE, Stage.STRAY])


@pytest.mark.parametrize(
    ("name", "topic", "partition", "stage"),
    [
        ("orders-0", "orders", 0, Stage.LIVE),
        ("a-b-12", "a-b", 12, Stage.LIVE),
        ("-0", None, 0, Stage.LIVE),
        (f"orders-3.{HEX}-delete", "orders", 3, Stage.DELETE),
        (f"orders-3.{HEX}-future", "orders", 3, Stage.FUTURE),
        (f"orders-3.{HEX}-stray", "orders", 3, Stage.STRAY),
        (f"orders-3.{HEX}", None, 0, Stage.LIVE),
        (f"orders-3.{HEX[1:]}-delete", None, 0, Stage.LIVE),
        (f"orders-3.{HEX.upper()}-delete", None, 0, Stage.LIVE),
        ("orders", None, 0, Stage.LIVE),
        ("orders-", None, 0, Stage.LIVE),
        ("orders-01", None, 0, Stage.LIVE),
        ("orders-2147483648", None, 0, Stage.LIVE),
        ("orders-\u0661", None, 0, Stage.LIVE),
        ("or ders-1", None, 0, Stage.LIVE),
        ("..-1", None, 0, Stage.LIVE),
        ("lost+found", None, 0, Stage.LIVE),
    ],
)
def test_a_name_is_a_partitions_or_nobodys(
    name: str, topic: str | None, partition: int, stage: Stage
) -> None:
    expected = None if topic is None else DirectoryName(TopicPartition(topic, partition), stage)
    assert parse_directory_name(name) == expected


@given(topic=topics, partition=partitions)
def test_a_live_name_reads_back(topic: str, partition: int) -> None:
    key = TopicPartition(topic, partition)
    parsed = parse_directory_name(str(key))
    assert parsed is not None
    assert parsed.stage is not Stage.LIVE or parsed.topic_partition == key


@given(
    topic=topics,
    partition=partitions,
    stage=moved,
    unique=st.binary(min_size=16, max_size=16),
)
def test_a_name_on_its_way_fits_and_tells_its_partition(
    topic: str, partition: int, stage: Stage, unique: bytes
) -> None:
    name = staged_name(TopicPartition(topic, partition), stage, unique)
    assert len(name) <= 255
    parsed = parse_directory_name(name)
    assert parsed is not None
    assert parsed.stage is stage
    assert parsed.topic_partition.partition == partition
    assert topic.startswith(parsed.topic_partition.topic)


def test_only_a_directory_on_its_way_gets_a_staged_name() -> None:
    with pytest.raises(ValueError):
        staged_name(TopicPartition("a", 0), Stage.LIVE, bytes(16))


def test_topic_names() -> None:
    for name in ("a", "a.b_c-d", "x" * 249):
        assert is_topic_name(name)
    for name in ("", ".", "..", "x" * 250, "a b", "a/b", "a\n", "\u00e9"):
        assert not is_topic_name(name)
