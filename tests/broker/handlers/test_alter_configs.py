from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_configs as replacing

TOPIC, BROKER, LOGGER = 2, 4, 8


def resource(kind: int, name: str, **settings: str | None) -> replacing.AlterConfigsResource:
    return replacing.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            replacing.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in settings.items()
        ],
    )


def replace(
    *resources: replacing.AlterConfigsResource, validate_only: bool = False
) -> replacing.AlterConfigsRequest:
    return replacing.AlterConfigsRequest(resources=list(resources), validate_only=validate_only)


@pytest.mark.parametrize("version", range(3))
def test_what_is_not_named_goes_back_to_its_default(version: int) -> None:
    scene = Scene()
    scene.topic("t", retention_ms="5", segment_ms="7")
    response = scene.ask(replace(resource(TOPIC, "t", retention_ms="6")), version)
    assert [one.error_code for one in response.responses] == [ErrorCode.NONE]
    assert scene.broker.image.config(TOPIC, "t") == {"retention.ms": "6"}


def test_validate_only_changes_nothing() -> None:
    scene = Scene()
    scene.topic("t", retention_ms="5")
    request = replace(resource(TOPIC, "t"), validate_only=True)
    assert scene.ask(request).responses[0].error_code == ErrorCode.NONE
    assert scene.broker.image.config(TOPIC, "t") == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (resource(TOPIC, "t", retention_ms=None), ErrorCode.INVALID_REQUEST),
        (resource(TOPIC, "t", retention_ms="soon"), ErrorCode.INVALID_CONFIG),
        (resource(TOPIC, "no-such"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (resource(BROKER, "1", node_id="9"), ErrorCode.INVALID_REQUEST),
        (resource(BROKER, "2", num_io_threads="9"), ErrorCode.INVALID_REQUEST),
        (resource(BROKER, "", num_io_threads="9"), ErrorCode.INVALID_CONFIG),
        (resource(LOGGER, "1", root="INFO"), ErrorCode.INVALID_REQUEST),
        (resource(3, "x"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_refused(asked: replacing.AlterConfigsResource, code: ErrorCode) -> None:
    scene = Scene()
    scene.topic("t")
    (answer,) = scene.ask(replace(asked)).responses
    assert answer.error_code == code
    assert answer.error_message


def test_this_brokers_settings_are_replaced() -> None:
    scene = Scene()
    good, twice = resource(BROKER, "1", num_io_threads="9"), resource(TOPIC, "t")
    response = scene.ask(replace(good, twice, twice))
    assert [one.error_code for one in response.responses] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
    ]
    assert scene.broker.layers.settings.num_io_threads == 9
