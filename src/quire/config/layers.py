"""Which of the values given for a setting counts.

A topic comes first, then one broker, then all brokers, then the file, then the default.

A `BrokerLayers` holds the texts of one broker's three layers and what follows from them. It is made
anew when a layer changes; topics and groups ask it for what they do not say themselves.

Invariants
  I1  settings.value(name) comes from the first layer that sets the name: this broker's, the
      cluster's, the file's; else it is the default.
  I2  A stored text that is refused (written by another version, or to a read-only setting) does
      not count and does not stop the node: the next layer counts, and `problems` says so.
  I3  Static texts are never forgiven: they stop the node.
Not here   where the layers come from, what DescribeConfigs shows of them (describe).
See        KIP-226, KIP-412
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeVar

from quire.config.allowed import Between
from quire.config.broker import BrokerSettings
from quire.config.broker.listener_names import PREFIX, listener_prefix
from quire.config.group import GroupSettings
from quire.config.setting import READ_ONLY, Setting, Settings
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError

S = TypeVar("S", bound=Settings)

NO_TEXTS: Mapping[str, str] = {}


class BrokerLayers:
    """The texts given for one broker, and what holds because of them."""

    def __init__(
        self,
        static: Mapping[str, str],
        *,
        cluster: Mapping[str, str] = NO_TEXTS,
        broker: Mapping[str, str] = NO_TEXTS,
    ) -> None:
        self.static = with_both_ids(static)
        self.cluster = cluster
        self.broker = broker
        started = BrokerSettings.of(self.static)
        given = dict(started.given)
        problems: list[ConfigError] = []
        for layer in (cluster, broker):
            values, refused = _dynamic_values(layer)
            given.update(values)
            problems += refused
        self.settings = BrokerSettings(given, started.unknown)
        self.problems = tuple(problems)

    def with_dynamic(
        self, *, cluster: Mapping[str, str], broker: Mapping[str, str]
    ) -> BrokerLayers:
        """The same file under other dynamic layers."""
        return BrokerLayers(self.static, cluster=cluster, broker=broker)

    def text(self, name: str) -> str | None:
        """The text that counts for a name, declared or not; None where no layer has it."""
        for layer in (self.broker, self.cluster, self.static):
            if name in layer:
                return layer[name]
        return None

    def listener(self, listener: str) -> BrokerSettings:
        """The settings as one listener has them: those with its name before them come first."""
        prefix = listener_prefix(listener)
        given = dict(self.settings.given)
        for layer in (self.static, self.cluster, self.broker):
            for name, text in layer.items():
                setting = BrokerSettings.declared.get(name.removeprefix(prefix))
                if name.startswith(prefix) and setting is not None:
                    given[setting.name] = setting.parse(text)
        return BrokerSettings(given, self.settings.unknown)

    def topic(self, overrides: Mapping[str, str] = NO_TEXTS) -> TopicSettings:
        """A topic's settings: its own, and the broker's where it says nothing."""
        if not overrides:
            return self._topic_without_overrides
        values = valid_values(TopicSettings, overrides)
        return TopicSettings(
            {**self._topic_without_overrides.given, **values}, _unknown(TopicSettings, overrides)
        )

    def group(self, overrides: Mapping[str, str] = NO_TEXTS) -> GroupSettings:
        """A group's settings: its own, and the broker's where it says nothing."""
        values = valid_values(GroupSettings, overrides)
        return GroupSettings(
            {**self.inherited(GroupSettings), **values}, _unknown(GroupSettings, overrides)
        )

    def inherited(self, of: type[Settings]) -> dict[str, Any]:
        """What the broker says of the settings of a topic or a group, where it says anything."""
        found = {}
        for setting in of.declared.values():
            for synonym in setting.synonyms:
                value = self.settings.value(synonym.name)
                if value is not None:
                    found[setting.name] = _at_least(setting, value, synonym.factor)
                    break
        return found

    @cached_property
    def _topic_without_overrides(self) -> TopicSettings:
        return TopicSettings(self.inherited(TopicSettings))


def with_both_ids(static: Mapping[str, str]) -> Mapping[str, str]:
    """The texts with node.id and broker.id, where only one of them is given."""
    for given, missing in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if given in static and missing not in static:
            return {**static, missing: static[given]}
    return static


def _dynamic_values(layer: Mapping[str, str]) -> tuple[dict[str, Any], list[ConfigError]]:
    values: dict[str, Any] = {}
    problems = []
    for name, text in layer.items():
        setting = BrokerSettings.declared.get(name)
        if setting is None or name.startswith(PREFIX):
            continue
        if setting.dynamic is READ_ONLY:
            message = f"{name} is stored as dynamic, but is read-only"
            problems.append(ConfigError(message, setting=name))
            continue
        try:
            values[name] = setting.parse(text)
        except ConfigError as problem:
            problems.append(problem)
    return values, problems


def valid_values(of: type[Settings], texts: Mapping[str, str]) -> dict[str, Any]:
    """Parsed, without what is refused: `problems_of` tells of those."""
    values = {}
    for name, text in texts.items():
        setting = of.declared.get(name)
        if setting is not None:
            try:
                values[name] = setting.parse(text)
            except ConfigError:
                continue
    return values


def problems_of(of: type[Settings], texts: Mapping[str, str]) -> tuple[ConfigError, ...]:
    """What of stored texts does not count, and why."""
    problems = [
        ConfigError(f"{name} is not a setting of this kind", setting=name)
        for name in _unknown(of, texts)
    ]
    for name, text in texts.items():
        if name in of.declared:
            try:
                of.declared[name].parse(text)
            except ConfigError as problem:
                problems.append(problem)
    return tuple(problems)


def _unknown(of: type[Settings], texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in texts if name not in of.declared)


def _at_least(setting: Setting[Any], value: Any, factor: int) -> Any:
    """An inherited value in the topic's unit; -1 hours is "for ever" too, hence the lower bound."""
    if factor == 1 and not isinstance(setting.allowed, Between):
        return value
    scaled = value * factor
    low = setting.allowed.low if isinstance(setting.allowed, Between) else None
    return scaled if low is None or scaled >= low else type(scaled)(low)
