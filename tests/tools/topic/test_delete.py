from __future__ import annotations

import pytest
from click.testing import CliRunner
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.apis import ApiKey
from quire.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from quire.tools.main import quire
from quire.tools.topic.delete import delete


def answering(code: int):
    return lambda request, _version: DeleteTopicsResponse(
        throttle_time_ms=0,
        responses=[
            DeletableTopicResult(name=one.name, error_code=code, error_message=None)
            for one in request.topics
        ],
    )


def test_topics_are_deleted_by_name() -> None:
    _, requests = asked(
        lambda cluster: delete(cluster, ("a", "b")), {ApiKey.DELETE_TOPICS: answering(0)}
    )
    assert [one.name for one in requests[0].topics] == ["a", "b"]


def test_a_refusal_names_the_topic() -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(AnswerError, match="topic gone: UNKNOWN_TOPIC_OR_PARTITION"):
        asked(lambda cluster: delete(cluster, ("gone",)), {ApiKey.DELETE_TOPICS: answering(code)})


def test_nothing_is_deleted_without_a_yes() -> None:
    done = CliRunner().invoke(
        quire, ["topic", "delete", "orders", "-b", "127.0.0.1:1"], input="n\n"
    )
    assert done.exit_code == 1
    assert "delete orders with all records?" in done.output
    assert isinstance(done.exception, SystemExit)
