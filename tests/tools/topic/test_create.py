from __future__ import annotations

from click.testing import CliRunner
from tests.tools.scene import asked

from quire.errors import ErrorCode
from quire.protocol.apis import ApiKey
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from quire.tools.main import quire
from quire.tools.topic.create import make


def topic(name: str) -> CreatableTopic:
    return CreatableTopic(
        name=name, num_partitions=2, replication_factor=1, assignments=[], configs=[]
    )


def answering(codes: dict[str, int]):
    def answer(request, _version):
        return CreateTopicsResponse(
            throttle_time_ms=0,
            topics=[
                CreatableTopicResult(name=one.name, error_code=codes[one.name], error_message=None)
                for one in request.topics
            ],
        )

    return answer


def test_all_topics_are_asked_for_at_once_and_each_has_its_outcome() -> None:
    codes = {"new": 0, "old": ErrorCode.TOPIC_ALREADY_EXISTS}
    outcomes, requests = asked(
        lambda cluster: make(cluster, [topic("old"), topic("new")], check_only=False),
        {ApiKey.CREATE_TOPICS: answering(codes)},
        {"new": {0: 1, 1: 1}},
    )
    assert len(requests) == 1
    assert not requests[0].validate_only
    assert outcomes[0] is not None
    assert outcomes[0].code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert outcomes[1] is None


def test_a_check_makes_nothing_and_waits_for_nothing() -> None:
    outcomes, requests = asked(
        lambda cluster: make(cluster, [topic("new")], check_only=True),
        {ApiKey.CREATE_TOPICS: answering({"new": 0})},
    )
    assert outcomes == [None]
    assert requests[0].validate_only


def test_a_setting_without_a_value_is_named() -> None:
    done = CliRunner().invoke(quire, ["topic", "create", "t", "-s", "retention.ms"])
    assert "'retention.ms' is not name=value" in str(done.exception)
