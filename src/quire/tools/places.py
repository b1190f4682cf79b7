"""Partitions as they are typed: `orders` is all of a topic, `orders:0,3` two of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from quire.types import TopicPartition


class Place(NamedTuple):
    """A topic, and which of its partitions; None is all of them."""

    topic: str
    partitions: tuple[int, ...] | None = None

    def holds(self, one: TopicPartition) -> bool:
        """Whether a partition is meant."""
        return one.topic == self.topic and (
            self.partitions is None or one.partition in self.partitions
        )


class PlaceType(click.ParamType[Place]):
    """`TOPIC` or `TOPIC:P,P`."""

    name = "TOPIC[:P,P]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Place:
        if isinstance(value, Place):
            return value
        topic, colon, listed = str(value).partition(":")
        numbers = listed.split(",") if colon else []
        if not topic or not all(one.isdecimal() and one.isascii() for one in numbers):
            self.fail(f"{value!r} is not a topic, nor a topic and partitions such as orders:0,3",
                      param, ctx)  # fmt: skip
        return Place(topic, tuple(dict.fromkeys(map(int, numbers))) if colon else None)


class PartitionType(PlaceType):
    """`TOPIC:P`, exactly one."""

    name = "TOPIC:P"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Place:
        place = super().convert(value, param, ctx)
        if len(place.partitions or ()) != 1:
            self.fail(f"{value!r} is not one partition, such as orders:0", param, ctx)
        return place


def any_holds(places: Iterable[Place], one: TopicPartition) -> bool:
    """Whether a partition is meant; when nothing was said, everything is."""
    listed = tuple(places)
    return not listed or any(place.holds(one) for place in listed)
