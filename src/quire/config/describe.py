"""Settings as DescribeConfigs shows them: value, source, synonyms and flags, as plain values.

Invariants
  I1  The source of an entry is that of its first synonym; without any it is DEFAULT.
  I2  Synonyms are listed from the described name on: by layer, within a layer by precedence.
  I3  The value of a secret, and of what nobody declared, is None, in the entry and in its synonyms.
  I4  Internal settings appear only where somebody set them.
Not here   which resource may be asked of which broker, loggers' levels, authorisation.
See        KIP-133, KIP-226, KIP-569
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.broker.listener_names import PREFIX, base_name, declaration_of
from quire.config.broker.quotas import DYNAMIC_ONLY
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.group import GroupSettings
from quire.config.layers import BrokerLayers, valid_values
from quire.config.setting import READ_ONLY, Setting, Settings
from quire.config.values import Kind


class Source(IntEnum):
    """Where a value comes from; the number is DescribeConfigs' code for it."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Given(NamedTuple):
    """One place that gives a setting a value: DescribeConfigs calls it a synonym."""

    name: str
    value: str | None
    source: Source


class Described(NamedTuple):
    """One setting as it stands."""

    name: str
    value: str | None
    source: Source
    kind: Kind
    read_only: bool
    sensitive: bool
    synonyms: tuple[Given, ...]
    documentation: str


Names = Collection[str] | None
"""The names that are asked for; None asks for all."""


def describe_broker(layers: BrokerLayers, names: Names = None) -> list[Described]:
    """What one broker obeys, and everything that was given for it, known or not."""
    shown = {name: None for name, one in BrokerSettings.declared.items() if not one.internal}
    shown.update(dict.fromkeys([*layers.static, *layers.cluster, *layers.broker]))
    return [
        _broker_entry(name, _value_text(layers, name), _given(layers, name))
        for name in _asked(shown, names)
    ]


def describe_cluster_default(layers: BrokerLayers, names: Names = None) -> list[Described]:
    """What was given for all brokers: nothing else is shown of the resource without a name."""
    entries = []
    for name in _asked(layers.cluster, names):
        given = _given(layers, name)
        default = tuple(one for one in given if one.source is Source.DYNAMIC_DEFAULT_BROKER)
        entries.append(_broker_entry(name, layers.cluster[name], default))
    return entries


def describe_topic(
    layers: BrokerLayers, overrides: Mapping[str, str], names: Names = None
) -> list[Described]:
    """What one topic obeys on this broker."""
    settings = layers.topic(overrides)
    return _describe(layers, settings, overrides, Source.TOPIC, names)


def describe_group(
    layers: BrokerLayers, overrides: Mapping[str, str], names: Names = None
) -> list[Described]:
    """What one group obeys."""
    settings = layers.group(overrides)
    return _describe(layers, settings, overrides, Source.GROUP, names)


def describe_client_metrics(
    layers: BrokerLayers, overrides: Mapping[str, str], names: Names = None
) -> list[Described]:
    """What one subscription to client metrics says."""
    settings = ClientMetricsSettings(valid_values(ClientMetricsSettings, overrides))
    return _describe(layers, settings, overrides, Source.CLIENT_METRICS, names)


def _asked(shown: Collection[str], names: Names) -> Iterator[str]:
    return (name for name in shown if names is None or name in names)


def _describe(
    layers: BrokerLayers,
    settings: Settings,
    overrides: Mapping[str, str],
    source: Source,
    names: Names,
) -> list[Described]:
    entries = []
    shown = [
        name for name, one in settings.declared.items() if not one.internal or name in overrides
    ]
    for name in _asked(shown, names):
        setting = settings.declared[name]
        value = setting.format(settings.value(name))
        given = _inherited(layers, settings, setting)
        if name in overrides:
            given = (Given(name, value, source), *given)
        origin = given[0].source if given else Source.DEFAULT
        entries.append(
            Described(
                name,
                value,
                origin,
                setting.kind,
                read_only=False,
                sensitive=setting.sensitive,
                synonyms=given,
                documentation=setting.doc,
            )
        )
    return entries


def _inherited(
    layers: BrokerLayers, settings: Settings, setting: Setting[Any]
) -> tuple[Given, ...]:
    if setting.synonyms:
        return _given(layers, setting.synonyms[0].name)
    if isinstance(settings, GroupSettings):
        return (Given(setting.name, setting.default_text, Source.DEFAULT),)
    return ()


def _broker_entry(name: str, value: str | None, given: tuple[Given, ...]) -> Described:
    setting = declaration_of(name)
    source = given[0].source if given else Source.DEFAULT
    if setting is None:
        return Described(name, None, source, Kind.UNKNOWN, True, True, given, "")  # noqa: FBT003
    read_only = setting.dynamic is READ_ONLY or name.startswith(PREFIX)
    shown = None if setting.sensitive else value
    return Described(
        name, shown, source, setting.kind, read_only, setting.sensitive, given, setting.doc
    )


def _value_text(layers: BrokerLayers, name: str) -> str | None:
    setting = BrokerSettings.declared.get(name)
    return layers.text(name) if setting is None else setting.format(layers.settings.value(name))


def _given(layers: BrokerLayers, name: str) -> tuple[Given, ...]:
    """Every place that gives `name` or a synonym of it a value; the first is for `name` itself."""
    setting = declaration_of(name)
    secret = setting is None or setting.sensitive
    synonyms = _synonym_names(name, setting)
    found: list[Given] = []
    for source, layer in (
        (Source.DYNAMIC_BROKER, layers.broker),
        (Source.DYNAMIC_DEFAULT_BROKER, layers.cluster),
        (Source.STATIC_BROKER, layers.static),
    ):
        found += [
            Given(one, None if secret else layer[one], source) for one in synonyms if one in layer
        ]
    for one in synonyms:
        declared = BrokerSettings.declared.get(one)
        if declared is not None and declared.default is not None and one not in DYNAMIC_ONLY:
            text = None if secret else declared.default_text
            found.append(Given(one, text, Source.DEFAULT))
    while found and found[0].name != name:
        del found[0]
    return tuple(found)


def _synonym_names(name: str, setting: Setting[Any] | None) -> list[str]:
    if name.startswith(PREFIX):
        return [name, base_name(name)]
    if setting is not None and setting.synonyms:
        return [synonym.name for synonym in setting.synonyms]
    return [name]
