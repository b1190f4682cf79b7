from __future__ import annotations

import click
import pytest

from quire.tools.places import PartitionType, Place, PlaceType, any_holds
from quire.types import TopicPartition


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("orders", Place("orders")),
        ("orders:0", Place("orders", (0,))),
        ("orders:3,1,3", Place("orders", (3, 1))),
    ],
)
def test_a_place_is_a_topic_or_some_of_its_partitions(text: str, place: Place) -> None:
    assert PlaceType().convert(text, None, None) == place
    assert PlaceType().convert(place, None, None) == place


@pytest.mark.parametrize("text", ["", ":0", "orders:", "orders:x", "orders:0,,1", "orders:-1"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="orders:0,3"):
        PlaceType().convert(text, None, None)


@pytest.mark.parametrize("text", ["orders", "orders:0,1"])
def test_one_partition_is_one(text: str) -> None:
    assert PartitionType().convert("orders:2", None, None) == Place("orders", (2,))
    with pytest.raises(click.BadParameter, match="not one partition"):
        PartitionType().convert(text, None, None)


def test_everything_is_meant_when_nothing_was_said() -> None:
    one = TopicPartition("orders", 1)
    assert any_holds((), one)
    assert any_holds([Place("audit"), Place("orders", (0, 1))], one)
    assert not any_holds([Place("orders", (0,)), Place("audit")], one)
