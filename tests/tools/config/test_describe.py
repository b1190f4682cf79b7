from __future__ import annotations

import pytest
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.config.describe import Source
from quire.errors import ErrorCode
from quire.metadata.image import TOPIC
from quire.protocol.apis import ApiKey
from quire.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from quire.tools.config.describe import HIDDEN, rows
from quire.tools.config.entity import Entity


def entry(name: str, value: str | None, source: int, *, secret: bool = False):
    return DescribeConfigsResourceResult(
        name=name,
        value=value,
        read_only=False,
        config_source=source,
        is_sensitive=secret,
        synonyms=[],
        documentation="what it means",
    )


def configs(entries, code: int = 0):
    return lambda request, _version: DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
                configs=entries,
            )
            for one in request.resources
        ],
    )


ENTRIES = [
    entry("retention.ms", "5", Source.TOPIC),
    entry("cleanup.policy", "delete", Source.DEFAULT),
    entry("password", None, Source.TOPIC, secret=True),
]


def described(*names: str, everything: bool = False, docs: bool = False):
    return asked(
        lambda cluster: rows(cluster, Entity(TOPIC, "t"), names, everything=everything, docs=docs),
        {ApiKey.DESCRIBE_CONFIGS: configs(ENTRIES)},
    )


def test_what_somebody_set_is_shown_by_name_and_secrets_are_not() -> None:
    found, requests = described()
    assert [(row["setting"], row["value"]) for row in found] == [
        ("password", HIDDEN),
        ("retention.ms", "5"),
    ]
    assert found[1]["from"] == "topic"
    assert requests[0].resources[0].configuration_keys is None


def test_defaults_and_meanings_are_shown_when_asked_for() -> None:
    found, requests = described(everything=True, docs=True)
    assert [row["setting"] for row in found] == ["cleanup.policy", "password", "retention.ms"]
    assert found[0]["meaning"] == "what it means"
    assert requests[0].include_documentation


def test_named_settings_are_asked_for_by_name() -> None:
    found, requests = described("cleanup.policy")
    assert requests[0].resources[0].configuration_keys == ["cleanup.policy"]
    assert "cleanup.policy" in [row["setting"] for row in found]


def test_a_resource_that_is_not_there_is_named() -> None:
    script = configs([], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    with pytest.raises(AnswerError, match="settings of topic:t"):
        asked(
            lambda cluster: rows(cluster, Entity(TOPIC, "t"), (), everything=False, docs=False),
            {ApiKey.DESCRIBE_CONFIGS: script},
        )
