from __future__ import annotations

import pytest
from click.testing import CliRunner
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.config.alter import Operation
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, TOPIC
from quire.protocol.apis import ApiKey
from quire.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from quire.tools.config.alter import alter
from quire.tools.config.entity import Entity
from quire.tools.main import quire

CHANGES = [
    AlterableConfig(name="retention.ms", config_operation=Operation.SET, value="5"),
    AlterableConfig(name="cleanup.policy", config_operation=Operation.DELETE, value=None),
]


def answering(code: int, message: str | None = None):
    return lambda request, _version: IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ],
    )


@pytest.mark.parametrize("entity", [Entity(TOPIC, "t"), Entity(BROKER, "1"), Entity(BROKER, "")])
def test_changes_of_one_resource_go_together(entity: Entity) -> None:
    _, requests = asked(
        lambda cluster: alter(cluster, entity, CHANGES),
        {ApiKey.INCREMENTAL_ALTER_CONFIGS: answering(0)},
    )
    resource = requests[0].resources[0]
    assert (resource.resource_type, resource.resource_name) == entity
    assert [(one.name, one.config_operation) for one in resource.configs] == [
        ("retention.ms", Operation.SET),
        ("cleanup.policy", Operation.DELETE),
    ]


def test_a_refusal_has_the_words_of_the_cluster() -> None:
    script = answering(ErrorCode.INVALID_CONFIG, "retention.ms: not a number")
    with pytest.raises(AnswerError, match="settings of topic:t: INVALID_CONFIG: retention"):
        asked(
            lambda cluster: alter(cluster, Entity(TOPIC, "t"), CHANGES),
            {ApiKey.INCREMENTAL_ALTER_CONFIGS: script},
        )


def test_what_is_no_setting_is_named_before_anybody_is_asked() -> None:
    done = CliRunner().invoke(quire, ["config", "set", "topic:t", "retention.ms"])
    assert "'retention.ms' is not name=value" in str(done.exception)
