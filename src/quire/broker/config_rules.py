"""What the controller must know of settings, told by those who declare them.

Topics, groups and subscriptions are judged here, by the settings of the node that has the controller. Settings of
brokers are not: a broker judges changes of its own settings before it passes them on (see handlers), for only it
knows its file.

Not here   which resources there are (controller.configs), what a setting does.
See        KIP-226, KIP-525
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from quire.config.alter import judge_client_metrics, judge_group, judge_topic
from quire.config.broker import BrokerSettings
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.describe import describe_topic
from quire.config.group import GroupSettings
from quire.config.layers import BrokerLayers
from quire.config.setting import Settings
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError, Kind
from quire.controller.decision import Refusal
from quire.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, ConfigResource
from quire.protocol.messages.create_topics import CreatableTopicConfigs

_DECLARED: Final[Mapping[int, type[Settings]]] = {
    TOPIC: TopicSettings,
    BROKER: BrokerSettings,
    CLIENT_METRICS: ClientMetricsSettings,
    GROUP: GroupSettings,
}


class SettingsRules:
    """The controller's `ConfigRules`."""

    def __init__(self, layers: Callable[[], BrokerLayers]) -> None:
        """`layers` gives the node's settings as they are when a command is decided."""
        self._layers = layers

    def refusal(
        self, resource: ConfigResource, current: Mapping[str, str], wanted: Mapping[str, str]
    ) -> Refusal | None:
        """Why a resource that has `current` cannot have `wanted`; None when it can."""
        try:
            if resource.resource_type == TOPIC:
                judge_topic(self._layers(), current, wanted)
            elif resource.resource_type == GROUP:
                judge_group(self._layers(), wanted)
            elif resource.resource_type == CLIENT_METRICS:
                judge_client_metrics(wanted)
        except ConfigError as refused:
            return Refusal(refused.code, refused.message)
        return None

    def list_default(self, resource_type: int, key: str) -> Sequence[str] | None:
        """What a list holds when nobody set it; None for a setting that is no list."""
        setting = _DECLARED[resource_type].declared.get(key)
        if setting is None or setting.kind is not Kind.LIST:
            return None
        return [item for item in (setting.default_text or "").split(",") if item]

    def describe_topic(self, settings: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """All the settings that a new topic has, as CreateTopics answers them."""
        return [
            CreatableTopicConfigs(
                name=one.name,
                value=one.value,
                read_only=one.read_only,
                config_source=one.source,
                is_sensitive=one.sensitive,
            )
            for one in describe_topic(self._layers(), settings)
        ]
