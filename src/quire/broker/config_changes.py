"""Changes of settings as far as a broker decides them itself, before the rest goes to the controller.

Requests that make no sense are refused here, and changes of this broker's settings are judged here: only the broker
knows the file that they stand over. Loggers are the process's own and never reach the controller; Quire has none
that could be turned, so that every name is unknown.

Invariants
  I1  A change that is refused is not passed on; a resource that is named twice is refused each time.
Not here   what topics, groups and subscriptions may have (config_rules), storing (the controller).
See        KIP-226, KIP-339, KIP-412
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from quire.broker.broker import Broker
from quire.config.alter import judge_broker, judge_cluster_default
from quire.config.values import ConfigError
from quire.controller.configs import node_number
from quire.controller.decision import Refusal
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, ConfigResource

PASSED_ON: Final = (TOPIC, BROKER, CLIENT_METRICS, GROUP)
TWICE: Final = Refusal(ErrorCode.INVALID_REQUEST, "a resource may be named once only")

Texts = Mapping[str, str]


def named_twice(resources: Iterable[ConfigResource]) -> set[ConfigResource]:
    return {one for one, times in Counter(resources).items() if times > 1}


def nameless_value(name: str) -> Refusal:
    """A setting that has no value where it needs one."""
    return Refusal(ErrorCode.INVALID_REQUEST, f"{name} has no value")


def unknown_type(kind: int) -> Refusal:
    return Refusal(ErrorCode.INVALID_REQUEST, f"{kind} is no type of resource that can be changed")


def own_number_refusal(broker: Broker, name: str) -> Refusal | None:
    """Why a name is not this broker's id."""
    number = node_number(name)
    if number == broker.node_id:
        return None
    message = (
        f"{name!r} is no node's id"
        if number is None
        else f"this is node {broker.node_id}, not {number}"
    )
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def broker_refusal(broker: Broker, name: str, change: Callable[[Texts], Texts]) -> Refusal | None:
    """Why this broker, or all of them (no name), cannot have what `change` makes of their settings."""
    if name:
        refusal = own_number_refusal(broker, name)
        if refusal is not None:
            return refusal
    layers, elr = broker.layers, broker.image.has_elr
    try:
        if name:
            judge_broker(layers, change(layers.broker), elr=elr)
        else:
            judge_cluster_default(layers, change(layers.cluster), elr=elr)
    except ConfigError as refused:
        return Refusal(refused.code, refused.message)
    return None
