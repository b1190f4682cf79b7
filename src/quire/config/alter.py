"""Changes of settings, judged as Apache Kafka judges AlterConfigs and IncrementalAlterConfigs.

Operations turn the texts that a resource has into the texts that it would have (`altered`,
`replaced`); a judge per kind of resource says whether it may have them. Both raise ConfigError,
whose code is the answer.

Invariants
  I1  Nothing is stored that would not be understood when it is read again.
  I2  DELETE is always allowed, of unknown names too, but for the cluster's min.insync.replicas
      while eligible leader replicas are kept (KIP-966).
  I3  Topics, groups and metrics answer INVALID_CONFIG, brokers INVALID_REQUEST; requests that make
      no sense (no value, a name twice) INVALID_REQUEST.
Not here   authorisation, policies, loggers, storing, and which broker a resource belongs to.
See        KIP-226, KIP-339, KIP-714, KIP-966
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.broker.listener_names import PREFIX, base_name, declaration_of
from quire.config.broker.ssl import STORES
from quire.config.checks import check_change, check_group, check_topic
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.group import GroupSettings
from quire.config.layers import BrokerLayers
from quire.config.setting import BROKER, READ_ONLY, Settings
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError, Kind
from quire.errors import ErrorCode

MIN_ISR = "min.insync.replicas"
PER_LISTENER_FOR_ALL = ("max.connections", "max.connection.creation.rate", "num.network.threads")
"""What may be set for a listener of all brokers at once."""

SELECTORS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
LEAST_INTERVAL_MS = 100
MOST_INTERVAL_MS = 3_600_000


class Operation(IntEnum):
    """What IncrementalAlterConfigs may do to one setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Alteration(NamedTuple):
    """One operation on one setting."""

    name: str
    operation: Operation
    value: str | None = None


def altered(
    of: type[Settings], current: Mapping[str, str], alterations: Sequence[Alteration]
) -> dict[str, str]:
    """The texts after some operations; `of` declares what is a list and what its default is."""
    _refuse_doubles([one.name for one in alterations])
    texts = dict(current)
    for name, operation, value in alterations:
        if operation is Operation.DELETE:
            texts.pop(name, None)
        elif value is None:
            raise _invalid_request(f"{name} has no value", name)
        elif operation is Operation.SET:
            texts[name] = value
        else:
            texts[name] = _with_items(of, name, operation, texts.get(name), value)
    return texts


def replaced(given: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """The texts after AlterConfigs, which replaces all that was set before."""
    _refuse_doubles([name for name, _ in given])
    texts = {}
    for name, value in given:
        if value is None:
            raise _invalid_request(f"{name} has no value", name)
        texts[name] = value
    return texts


def changes(current: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str | None]:
    """What must be stored to come from one to the other; None removes."""
    gone: dict[str, str | None] = {name: None for name in current if name not in texts}
    return gone | {name: text for name, text in texts.items() if current.get(name) != text}


def judge_topic(layers: BrokerLayers, current: Mapping[str, str], texts: Mapping[str, str]) -> None:
    """Whether a topic that had `current` may have `texts`; a new topic had nothing."""
    _refuse_unknown(TopicSettings, "topic", texts)
    TopicSettings.of(texts)
    was_remote = bool(current) and layers.topic(current).remote_storage_enable
    check_topic(layers.topic(texts), layers.settings, was_remote=was_remote)


def judge_group(layers: BrokerLayers, texts: Mapping[str, str]) -> None:
    """Whether a group may have `texts`."""
    _refuse_unknown(GroupSettings, "group", texts)
    GroupSettings.of(texts)
    check_group(layers.group(texts), layers.settings)


def judge_client_metrics(texts: Mapping[str, str]) -> None:
    """Whether a subscription to client metrics may have `texts`."""
    try:
        _refuse_unknown(ClientMetricsSettings, "client metrics", texts)
    except ConfigError as unknown:
        raise unknown.answered_with(ErrorCode.INVALID_REQUEST) from None
    settings = ClientMetricsSettings.of(texts)
    if not LEAST_INTERVAL_MS <= settings.interval_ms <= MOST_INTERVAL_MS:
        raise _invalid_request(
            f"interval.ms is {settings.interval_ms}, but must be from {LEAST_INTERVAL_MS} "
            f"to {MOST_INTERVAL_MS}",
            "interval.ms",
        )
    for item in settings.match:
        selector, equals, pattern = (part.strip() for part in item.partition("="))
        if not equals or selector not in SELECTORS or not _is_pattern(pattern):
            raise ConfigError(
                f"match has {item!r}, but must be selector=pattern with one of "
                + ", ".join(SELECTORS),
                setting="match",
            )


def judge_broker(layers: BrokerLayers, texts: Mapping[str, str], *, elr: bool) -> None:
    """Whether one broker may have `texts` as its own dynamic settings.

    `elr`: the cluster keeps eligible leader replicas, so brokers may not differ in the ISR's size.
    """
    if elr and MIN_ISR in texts and texts[MIN_ISR] != layers.broker.get(MIN_ISR):
        raise ConfigError(
            f"{MIN_ISR} cannot be set for one broker while eligible leader replicas are kept",
            setting=MIN_ISR,
        )
    _judge_dynamic(layers.broker, texts)
    _judge_outcome(layers, layers.with_dynamic(cluster=layers.cluster, broker=texts))


def judge_cluster_default(layers: BrokerLayers, texts: Mapping[str, str], *, elr: bool) -> None:
    """Whether all brokers may have `texts` as their dynamic settings."""
    if elr and MIN_ISR in layers.cluster and MIN_ISR not in texts:
        raise ConfigError(
            f"{MIN_ISR} cannot be removed while eligible leader replicas are kept", setting=MIN_ISR
        )
    for name in _set_by(layers.cluster, texts):
        setting = declaration_of(name)
        listener = name.startswith(PREFIX) and base_name(name) not in PER_LISTENER_FOR_ALL
        if listener or (setting is not None and setting.dynamic is BROKER):
            raise _invalid_request(f"{name} can be set for one broker only, not for all", name)
    _judge_dynamic(layers.cluster, texts)
    _judge_outcome(layers, layers.with_dynamic(cluster=texts, broker=layers.broker))


def _judge_dynamic(current: Mapping[str, str], texts: Mapping[str, str]) -> None:
    for name in _set_by(current, texts):
        setting = BrokerSettings.declared.get(name)
        if setting is not None and setting.dynamic is READ_ONLY:
            raise _invalid_request(f"{name} cannot change while the broker runs", name)
        if name in STORES:
            raise _invalid_request(f"{name} can be set for one listener only: {PREFIX}...", name)
        declared = declaration_of(name)
        if declared is not None:
            try:
                declared.parse(texts[name])
            except ConfigError as failure:
                raise failure.answered_with(ErrorCode.INVALID_REQUEST) from None


def _judge_outcome(before: BrokerLayers, after: BrokerLayers) -> None:
    try:
        check_change(before.settings, after.settings)
    except ConfigError as failure:
        raise failure.answered_with(ErrorCode.INVALID_REQUEST) from None


def _set_by(current: Mapping[str, str], texts: Mapping[str, str]) -> list[str]:
    return [name for name, text in texts.items() if current.get(name) != text]


def _with_items(
    of: type[Settings], name: str, operation: Operation, current: str | None, value: str
) -> str:
    """A list with some items more or less; where nothing is set, it starts from the default."""
    setting = of.declared.get(name)
    if setting is None or setting.kind is not Kind.LIST:
        raise ConfigError(f"{name} is not a list: {operation.name} is not possible", setting=name)
    start = (setting.default_text or "") if current is None else current
    items = [item for item in start.split(",") if item]
    for item in value.split(","):
        if operation is Operation.SUBTRACT and item in items:
            items.remove(item)
        elif operation is Operation.APPEND and item not in items:
            items.append(item)
    return ",".join(items)


def _refuse_unknown(of: type[Settings], kind: str, texts: Mapping[str, str]) -> None:
    for name in texts:
        if name not in of.declared:
            raise ConfigError(f"{name} is not a {kind} setting", setting=name)


def _refuse_doubles(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _invalid_request(f"{name} is named twice", name)
        seen.add(name)


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _invalid_request(message: str, name: str) -> ConfigError:
    return ConfigError(message, setting=name, code=ErrorCode.INVALID_REQUEST)
