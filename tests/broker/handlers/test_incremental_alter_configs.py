from __future__ import annotations

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode
from quire.protocol.messages import incremental_alter_configs as changing

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Change = tuple[str, int, str | None]


def resource(kind: int, name: str, *changes: Change) -> changing.AlterConfigsResource:
    return changing.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            changing.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def change(
    *resources: changing.AlterConfigsResource, validate_only: bool = False
) -> changing.IncrementalAlterConfigsRequest:
    return changing.IncrementalAlterConfigsRequest(
        resources=list(resources), validate_only=validate_only
    )


@pytest.mark.parametrize("version", range(2))
def test_settings_of_every_kind_are_changed_and_answered_in_order(version: int) -> None:
    scene = Scene()
    scene.topic("t")
    request = change(
        resource(TOPIC, "t", ("retention.ms", SET, "5"), ("cleanup.policy", APPEND, "compact")),
        resource(BROKER, "1", ("num.io.threads", SET, "x")),
        resource(BROKER, "1x", ("num.io.threads", SET, "9")),
        resource(BROKER, "", ("num.io.threads", SET, "9")),
        resource(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")),
        resource(3, "x", ("a", SET, "1")),
        resource(METRICS, "m", ("interval.ms", SET, "1000")),
    )
    response = scene.ask(request, version)
    assert [(one.resource_type, one.error_code) for one in response.responses] == [
        (TOPIC, ErrorCode.NONE),
        (BROKER, ErrorCode.INVALID_REQUEST),
        (BROKER, ErrorCode.INVALID_REQUEST),
        (BROKER, ErrorCode.NONE),
        (GROUP, ErrorCode.NONE),
        (3, ErrorCode.INVALID_REQUEST),
        (METRICS, ErrorCode.NONE),
    ]
    assert scene.broker.image.config(TOPIC, "t") == {
        "retention.ms": "5", "cleanup.policy": "delete,compact",
    }  # fmt: skip
    assert scene.broker.layers.settings.num_io_threads == 9


def test_validate_only_changes_nothing() -> None:
    scene = Scene()
    scene.topic("t")
    request = change(resource(TOPIC, "t", ("retention.ms", SET, "5")), validate_only=True)
    assert scene.ask(request).responses[0].error_code == ErrorCode.NONE
    assert scene.broker.image.config(TOPIC, "t") == {}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (resource(TOPIC, "t", ("retention.ms", SET, None)), ErrorCode.INVALID_REQUEST),
        (resource(TOPIC, "t", ("retention.ms", 9, "1")), ErrorCode.INVALID_REQUEST),
        (resource(TOPIC, "no-such", ("retention.ms", SET, "1")), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (resource(TOPIC, "a b", ("retention.ms", SET, "1")), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (resource(TOPIC, "", ("retention.ms", SET, "1")), ErrorCode.INVALID_REQUEST),
        (resource(BROKER, "1", ("num.io.threads", 9, "1")), ErrorCode.INVALID_REQUEST),
        (resource(BROKER, "1", ("num.io.threads", APPEND, "1")), ErrorCode.INVALID_CONFIG),
        (resource(LOGGER, "1", ("root", SET, "INFO")), ErrorCode.INVALID_CONFIG),
        (resource(LOGGER, "1", ("root", APPEND, "INFO")), ErrorCode.INVALID_REQUEST),
        (resource(LOGGER, "1", ("root", SET, None)), ErrorCode.INVALID_REQUEST),
        (resource(LOGGER, "2", ("root", SET, "INFO")), ErrorCode.INVALID_REQUEST),
        (resource(GROUP, "", ("consumer.session.timeout.ms", SET, "1")), ErrorCode.INVALID_REQUEST),
    ],
)  # fmt: skip
def test_what_is_refused(asked: changing.AlterConfigsResource, code: ErrorCode) -> None:
    scene = Scene()
    scene.topic("t")
    (answer,) = scene.ask(change(asked)).responses
    assert answer.error_code == code
    assert answer.error_message


def test_a_resource_that_is_named_twice_is_refused_each_time() -> None:
    scene = Scene()
    scene.topic("t")
    request = change(*[resource(TOPIC, "t", ("retention.ms", SET, "5"))] * 2)
    codes = [one.error_code for one in scene.ask(request).responses]
    assert codes == [ErrorCode.INVALID_REQUEST] * 2
    assert scene.broker.image.config(TOPIC, "t") == {}


def test_a_controller_does_not_judge_what_brokers_may_have() -> None:
    scene = Scene(brokers=2)
    request = change(resource(BROKER, "2", ("num.io.threads", SET, "9")))
    (answer,) = scene.ask(request, client=BY_CONTROLLER).responses
    assert answer.error_code == ErrorCode.NONE
