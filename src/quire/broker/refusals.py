"""The answer that refuses a whole request: the same code for everything that it names.

Given when the controller cannot be had, or not in time; the shape is Kafka's (its getErrorResponse).

Not here   refusals of a part of a request: those are their handlers', or the controller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from quire.errors import ErrorCode
from quire.protocol.messages import MESSAGES, create_acls, delete_acls
from quire.protocol.messages import alter_client_quotas as quotas
from quire.protocol.messages import alter_configs as replacing
from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages import alter_user_scram_credentials as crediting
from quire.protocol.messages import create_delegation_token as token
from quire.protocol.messages import create_partitions as growing
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import elect_leaders as electing
from quire.protocol.messages import incremental_alter_configs as changing

Refuse = Callable[[Any, int, ErrorCode], Any]
NOTHING_DUE: Final = -1


def refused(request: Any, version: int, code: ErrorCode) -> Any:
    """The response to `request` that says `code` of everything."""
    special = _SPECIAL.get(type(request))
    if special is not None:
        return special(request, version, code)
    name = type(request).__name__.removesuffix("Request")
    return MESSAGES[f"{name}Response"](error_code=code, **_PLAIN[name])


def is_timed(request: Any) -> bool:
    """Whether a request with no time left is refused, as Kafka's controller does (REQUEST_TIMED_OUT)."""
    return isinstance(request, _TIMED)


_TIMED: Final = (
    creating.CreateTopicsRequest,
    deleting.DeleteTopicsRequest,
    growing.CreatePartitionsRequest,
    electing.ElectLeadersRequest,
    moving.AlterPartitionReassignmentsRequest,
)


def _create_topics(
    request: creating.CreateTopicsRequest, _version: int, code: ErrorCode
) -> creating.CreateTopicsResponse:
    return creating.CreateTopicsResponse(
        throttle_time_ms=0,
        topics=[
            creating.CreatableTopicResult(name=one.name, error_code=code, error_message=None)
            for one in request.topics
        ],
    )


def _delete_topics(
    request: deleting.DeleteTopicsRequest, _version: int, code: ErrorCode
) -> deleting.DeleteTopicsResponse:
    named = [
        deleting.DeletableTopicResult(name=name, error_code=code) for name in request.topic_names
    ]
    identified = [
        deleting.DeletableTopicResult(name=one.name, topic_id=one.topic_id, error_code=code)
        for one in request.topics
    ]
    return deleting.DeleteTopicsResponse(throttle_time_ms=0, responses=[*named, *identified])


def _create_partitions(
    request: growing.CreatePartitionsRequest, _version: int, code: ErrorCode
) -> growing.CreatePartitionsResponse:
    return growing.CreatePartitionsResponse(
        throttle_time_ms=0,
        results=[
            growing.CreatePartitionsTopicResult(name=one.name, error_code=code)
            for one in request.topics
        ],
    )


def _create_acls(
    request: create_acls.CreateAclsRequest, _version: int, code: ErrorCode
) -> create_acls.CreateAclsResponse:
    return create_acls.CreateAclsResponse(
        throttle_time_ms=0,
        results=[
            create_acls.AclCreationResult(error_code=code, error_message=None)
            for _ in request.creations
        ],
    )


def _delete_acls(
    request: delete_acls.DeleteAclsRequest, _version: int, code: ErrorCode
) -> delete_acls.DeleteAclsResponse:
    return delete_acls.DeleteAclsResponse(
        throttle_time_ms=0,
        filter_results=[
            delete_acls.DeleteAclsFilterResult(
                error_code=code, error_message=None, matching_acls=[]
            )
            for _ in request.filters
        ],
    )


def _alter_configs(
    request: replacing.AlterConfigsRequest, _version: int, code: ErrorCode
) -> replacing.AlterConfigsResponse:
    return replacing.AlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            replacing.AlterConfigsResourceResponse(
                error_code=code,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ],
    )


def _incremental_alter_configs(
    request: changing.IncrementalAlterConfigsRequest, _version: int, code: ErrorCode
) -> changing.IncrementalAlterConfigsResponse:
    return changing.IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            changing.AlterConfigsResourceResponse(
                error_code=code,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ],
    )


def _create_delegation_token(
    _request: token.CreateDelegationTokenRequest, _version: int, code: ErrorCode
) -> token.CreateDelegationTokenResponse:
    return token.CreateDelegationTokenResponse(
        error_code=code,
        principal_type="",
        principal_name="",
        issue_timestamp_ms=NOTHING_DUE,
        expiry_timestamp_ms=NOTHING_DUE,
        max_timestamp_ms=NOTHING_DUE,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )


def _elect_leaders(
    request: electing.ElectLeadersRequest, version: int, code: ErrorCode
) -> electing.ElectLeadersResponse:
    return electing.ElectLeadersResponse(
        throttle_time_ms=0,
        error_code=code if version >= 1 else ErrorCode.NONE,
        replica_election_results=[
            electing.ReplicaElectionResult(
                topic=one.topic,
                partition_result=[
                    electing.PartitionResult(
                        partition_id=index, error_code=code, error_message=None
                    )
                    for index in one.partitions
                ],
            )
            for one in request.topic_partitions or ()
        ],
    )


def _alter_partition_reassignments(
    request: moving.AlterPartitionReassignmentsRequest, _version: int, code: ErrorCode
) -> moving.AlterPartitionReassignmentsResponse:
    return moving.AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=code,
        error_message=None,
        responses=[
            moving.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    moving.ReassignablePartitionResponse(
                        partition_index=one.partition_index, error_code=code, error_message=None
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _alter_client_quotas(
    request: quotas.AlterClientQuotasRequest, _version: int, code: ErrorCode
) -> quotas.AlterClientQuotasResponse:
    return quotas.AlterClientQuotasResponse(
        throttle_time_ms=0,
        entries=[
            quotas.AlterClientQuotasResponseEntryData(
                error_code=code,
                error_message=None,
                entity=[
                    quotas.AlterClientQuotasResponseEntityData(
                        entity_type=part.entity_type, entity_name=part.entity_name
                    )
                    for part in one.entity
                ],
            )
            for one in request.entries
        ],
    )


def _alter_user_scram_credentials(
    request: crediting.AlterUserScramCredentialsRequest, _version: int, code: ErrorCode
) -> crediting.AlterUserScramCredentialsResponse:
    users = [one.name for one in request.deletions] + [one.name for one in request.upsertions]
    return crediting.AlterUserScramCredentialsResponse(
        throttle_time_ms=0,
        results=[
            crediting.AlterUserScramCredentialsResult(
                user=user, error_code=code, error_message=None
            )
            for user in dict.fromkeys(users)
        ],
    )


_SPECIAL: Final[Mapping[type, Refuse]] = {
    creating.CreateTopicsRequest: _create_topics,
    deleting.DeleteTopicsRequest: _delete_topics,
    growing.CreatePartitionsRequest: _create_partitions,
    create_acls.CreateAclsRequest: _create_acls,
    delete_acls.DeleteAclsRequest: _delete_acls,
    replacing.AlterConfigsRequest: _alter_configs,
    changing.IncrementalAlterConfigsRequest: _incremental_alter_configs,
    token.CreateDelegationTokenRequest: _create_delegation_token,
    electing.ElectLeadersRequest: _elect_leaders,
    moving.AlterPartitionReassignmentsRequest: _alter_partition_reassignments,
    quotas.AlterClientQuotasRequest: _alter_client_quotas,
    crediting.AlterUserScramCredentialsRequest: _alter_user_scram_credentials,
}

_PLAIN: Final[Mapping[str, Mapping[str, Any]]] = {
    "RenewDelegationToken": {"expiry_timestamp_ms": NOTHING_DUE, "throttle_time_ms": 0},
    "ExpireDelegationToken": {"expiry_timestamp_ms": NOTHING_DUE, "throttle_time_ms": 0},
    "ListPartitionReassignments": {"error_message": None, "topics": [], "throttle_time_ms": 0},
    "DescribeQuorum": {"topics": []},
    "AlterPartition": {"topics": [], "throttle_time_ms": 0},
    "UpdateFeatures": {"error_message": None, "throttle_time_ms": 0},
    "BrokerRegistration": {"throttle_time_ms": 0},
    "BrokerHeartbeat": {"should_shut_down": False, "throttle_time_ms": 0},
    "UnregisterBroker": {"error_message": None, "throttle_time_ms": 0},
    "AllocateProducerIds": {"producer_id_start": 0, "producer_id_len": 0, "throttle_time_ms": 0},
    "ControllerRegistration": {"error_message": None, "throttle_time_ms": 0},
    "AssignReplicasToDirs": {"directories": [], "throttle_time_ms": 0},
    "AddRaftVoter": {"error_message": None, "throttle_time_ms": 0},
    "RemoveRaftVoter": {"error_message": None, "throttle_time_ms": 0},
}
"""Answers with one code at the top: what else they must hold."""
