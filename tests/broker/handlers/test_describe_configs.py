from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import describe_configs as configs

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


def asked(
    kind: int, name: str, keys: list[str] | None = None, **more: Any
) -> configs.DescribeConfigsRequest:
    resource = configs.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    return configs.DescribeConfigsRequest(resources=[resource], **more)


def told(
    response: configs.DescribeConfigsResponse,
) -> dict[str, configs.DescribeConfigsResourceResult]:
    (result,) = response.results
    assert (result.error_code, result.error_message) == (ErrorCode.NONE, "")
    return {one.name: one for one in result.configs}


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topic_in_every_version(version: int) -> None:
    scene = Scene()
    scene.topic("t", retention_ms="5")
    request = asked(TOPIC, "t", include_synonyms=True)
    if version >= 3:
        request.include_documentation = True
    found = told(scene.ask(request, version))
    assert len(found) == 33
    one = found["retention.ms"]
    assert (one.value, one.config_source, one.read_only, one.is_sensitive) == ("5", 1, False, False)
    assert [(given.name, given.value, given.source) for given in one.synonyms] == [
        ("retention.ms", "5", 1)
    ]
    assert one.config_type == (5 if version >= 3 else 0)
    assert bool(one.documentation) == (version >= 3)


def test_only_what_was_asked_for_and_without_what_was_not() -> None:
    scene = Scene()
    scene.topic("t")
    found = told(scene.ask(asked(TOPIC, "t", ["retention.ms", "no.such", "retention.ms"])))
    assert list(found) == ["retention.ms"]
    assert (found["retention.ms"].synonyms, found["retention.ms"].documentation) == ([], None)
    assert len(told(scene.ask(asked(TOPIC, "t", [])))) == 33


def test_a_broker_tells_of_itself_and_of_what_is_given_for_all() -> None:
    scene = Scene(log_retention_ms="1000")
    scene.world.set(BROKER, "", "num.io.threads", "9")
    scene.catch_up()
    found = told(scene.ask(asked(BROKER, "1")))
    assert (found["log.retention.ms"].value, found["log.retention.ms"].config_source) == ("1000", 4)
    assert (found["num.io.threads"].value, found["num.io.threads"].config_source) == ("9", 3)
    assert found["node.id"].read_only
    given = told(scene.ask(asked(BROKER, "")))
    assert {name: one.value for name, one in given.items()} == {
        "min.insync.replicas": "1", "num.io.threads": "9",
    }  # fmt: skip


def test_groups_subscriptions_and_loggers() -> None:
    scene = Scene()
    scene.world.set(GROUP, "g", "consumer.session.timeout.ms", "50000")
    scene.world.set(METRICS, "m", "interval.ms", "1000")
    scene.catch_up()
    session = told(scene.ask(asked(GROUP, "g")))["consumer.session.timeout.ms"]
    assert (session.value, session.config_source) == ("50000", 8)
    interval = told(scene.ask(asked(METRICS, "m")))["interval.ms"]
    assert (interval.value, interval.config_source) == ("1000", 7)
    assert told(scene.ask(asked(LOGGER, "1"))) == {}


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "no-such", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "one", ErrorCode.INVALID_REQUEST),
        (BROKER, "-1", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (METRICS, "", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
        (-1, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_described(kind: int, name: str, code: ErrorCode) -> None:
    (result,) = Scene(brokers=2).ask(asked(kind, name)).results
    assert (result.error_code, result.configs) == (code, [])
    assert (result.resource_type, result.resource_name) == (kind, name)
