from __future__ import annotations

import pytest
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.apis import ApiKey
from quire.protocol.messages.create_partitions import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from quire.tools.topic.grow import grow


def answering(code: int, message: str | None = None):
    return lambda request, _version: CreatePartitionsResponse(
        throttle_time_ms=0,
        results=[
            CreatePartitionsTopicResult(name=one.name, error_code=code, error_message=message)
            for one in request.topics
        ],
    )


def test_the_number_is_how_many_there_are_afterwards() -> None:
    _, requests = asked(
        lambda cluster: grow(cluster, "t", 6), {ApiKey.CREATE_PARTITIONS: answering(0)}
    )
    assert [(one.name, one.count) for one in requests[0].topics] == [("t", 6)]
    assert not requests[0].validate_only


def test_a_refusal_has_the_words_of_the_cluster() -> None:
    script = answering(ErrorCode.INVALID_PARTITIONS, "it has 6 already")
    with pytest.raises(AnswerError, match="topic t: INVALID_PARTITIONS: it has 6 already"):
        asked(lambda cluster: grow(cluster, "t", 3), {ApiKey.CREATE_PARTITIONS: script})
