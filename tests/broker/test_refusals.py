from __future__ import annotations

from typing import Any

import pytest

from quire.broker.refusals import is_timed, refused
from quire.errors import ErrorCode
from quire.protocol.apis import APIS, ApiKey
from quire.protocol.compiler import codec
from quire.protocol.messages import REQUESTS
from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages import alter_user_scram_credentials as crediting
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import elect_leaders as electing
from quire.protocol.schema import MISSING, Array, Scalar, Variable, fields_of

LATE = ErrorCode.REQUEST_TIMED_OUT
ASKED_OF_CONTROLLERS = [
    api.key
    for api in APIS.values()
    if api.forwarded or api.name in (
        "AlterPartition", "BrokerRegistration", "BrokerHeartbeat", "ControllerRegistration",
        "AssignReplicasToDirs",
    )
]  # fmt: skip


def smallest(cls: type) -> Any:
    """A request that says as little as it can."""
    zeros: dict[str, Any] = {"string": "", "bytes": b""}
    values = {}
    for one in fields_of(cls):
        if one.options.default is MISSING:
            if isinstance(one.type, Array):
                values[one.name] = []
            elif isinstance(one.type, Scalar):
                values[one.name] = one.type.zero
            elif isinstance(one.type, Variable):
                values[one.name] = zeros[one.type.name]
    return cls(**values)


def codes_in(message: Any) -> set[int]:
    """Every error code that a message says."""
    found: set[int] = set()
    for one in fields_of(type(message)):
        value = getattr(message, one.name)
        if one.name == "error_code":
            found.add(value)
        for item in value if isinstance(value, list) else ():
            if not isinstance(item, int | str | bytes):
                found |= codes_in(item)
    return found


@pytest.mark.parametrize("key", ASKED_OF_CONTROLLERS, ids=lambda key: ApiKey(key).name)
def test_whatever_a_controller_is_asked_can_be_refused_in_every_version(key: int) -> None:
    request_class, response_class = REQUESTS[key]
    for version in range(APIS[key].lowest, APIS[key].highest + 1):
        response = refused(smallest(request_class), version, LATE)
        assert isinstance(response, response_class)
        spoken = codec(response_class, version)
        assert codes_in(spoken.decode_all(spoken.encode(response))) <= {LATE, 0}


def test_everything_that_is_named_is_refused() -> None:
    by_name = deleting.DeleteTopicsRequest(topic_names=["a", "a"], timeout_ms=0)
    assert [(one.name, one.error_code) for one in refused(by_name, 1, LATE).responses] == [
        ("a", LATE), ("a", LATE),
    ]  # fmt: skip
    move = moving.AlterPartitionReassignmentsRequest(
        timeout_ms=0,
        topics=[
            moving.ReassignableTopic(
                name="t",
                partitions=[moving.ReassignablePartition(partition_index=3, replicas=None)],
            )
        ],
    )
    response = refused(move, 1, LATE)
    (partition,) = response.responses[0].partitions
    assert (response.error_code, partition.partition_index, partition.error_code) == (LATE, 3, LATE)
    user = crediting.AlterUserScramCredentialsRequest(
        deletions=[
            crediting.ScramCredentialDeletion(name="u", mechanism=1),
            crediting.ScramCredentialDeletion(name="u", mechanism=2),
        ],
        upsertions=[],
    )
    assert [one.user for one in refused(user, 0, LATE).results] == ["u"]


def test_an_election_says_it_at_the_top_since_version_1() -> None:
    request = electing.ElectLeadersRequest(
        topic_partitions=[electing.TopicPartitions(topic="t", partitions=[0, 1])], timeout_ms=0
    )
    for version, top in ((0, 0), (1, LATE)):
        response = refused(request, version, LATE)
        assert response.error_code == top
        (result,) = response.replica_election_results
        assert [one.error_code for one in result.partition_result] == [LATE, LATE]


def test_what_is_not_asked_of_controllers_is_no_business_of_this() -> None:
    with pytest.raises(KeyError):
        refused(object(), 0, LATE)


def test_which_requests_have_a_time_that_counts() -> None:
    assert is_timed(deleting.DeleteTopicsRequest(topic_names=[], timeout_ms=0))
    assert not is_timed(object())
