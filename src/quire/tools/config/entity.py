"""What settings belong to, as it is typed: topic:orders, broker:1, brokers (all), group:g, client-metrics:m."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from quire.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC

KINDS = {
    "topic": TOPIC,
    "broker": BROKER,
    "logger": BROKER_LOGGER,
    "group": GROUP,
    "client-metrics": CLIENT_METRICS,
}
ALL_BROKERS = "brokers"


class Entity(NamedTuple):
    """A resource."""

    resource_type: int
    name: str

    def __str__(self) -> str:
        if self.resource_type == BROKER and not self.name:
            return ALL_BROKERS
        kind = next(k for k, number in KINDS.items() if number == self.resource_type)
        return f"{kind}:{self.name}"

    @property
    def node_id(self) -> int | None:
        """The broker that must be asked; None for any."""
        is_one_broker = self.resource_type in (BROKER, BROKER_LOGGER) and self.name.isdecimal()
        return int(self.name) if is_one_broker else None


class EntityType(click.ParamType[Entity]):
    """See the module."""

    name = "ENTITY"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Entity:
        if isinstance(value, Entity):
            return value
        if value == ALL_BROKERS:
            return Entity(BROKER, "")
        kind, colon, name = str(value).partition(":")
        if not colon or not name or kind not in KINDS:
            kinds = ", ".join(f"{one}:NAME" for one in KINDS)
            self.fail(f"{value!r} is none of {kinds}, {ALL_BROKERS}", param, ctx)
        if KINDS[kind] in (BROKER, BROKER_LOGGER) and not name.isdecimal():
            self.fail(f"{value!r}: a broker is named by its number", param, ctx)
        return Entity(KINDS[kind], name)
