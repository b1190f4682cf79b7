"""Moving partitions to other brokers: asked for, listed, cancelled.

While a partition moves its replicas are the old and the new together; it is done when all that
shall stay are in sync, in whatever decision that comes about (partition_change).

Invariants
  I1  A cancelled move leaves the replicas of before it, and somebody of them in sync.
See        KIP-455, KIP-860
"""

from __future__ import annotations

from quire.controller import partitions
from quire.controller.decision import Decision, Refusal, Turn
from quire.controller.partition_change import Election, Wish
from quire.errors import ErrorCode
from quire.metadata.image import Partition, Topic
from quire.metadata.records import MetadataRecord
from quire.protocol.messages import alter_partition_reassignments as alter
from quire.protocol.messages import list_partition_reassignments as listing


def alter_reassignments(turn: Turn, request: alter.AlterPartitionReassignmentsRequest) -> Decision:
    """Begin moves, or cancel them."""
    records: list[MetadataRecord] = []
    responses = []
    for asked in request.topics:
        topic = turn.image.topics.get(asked.name)
        answers = []
        for one in asked.partitions:
            wish = _wish(
                turn, topic, one, may_change_factor=request.allow_replication_factor_change
            )
            if isinstance(wish, Wish):
                assert topic is not None
                place = (topic, one.partition_index, topic.partitions[one.partition_index])
                change = partitions.changed(turn, place, wish)
                if change is not None:
                    records.append(turn.record(change))
            refusal = wish if isinstance(wish, Refusal) else None
            answers.append(
                alter.ReassignablePartitionResponse(
                    partition_index=one.partition_index,
                    error_code=refusal.code if refusal else 0,
                    error_message=refusal.message if refusal else None,
                )
            )
        responses.append(alter.ReassignableTopicResponse(name=asked.name, partitions=answers))
    response = alter.AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=0,
        error_message=None,
        responses=responses,
    )
    return Decision(tuple(records), response)


def _wish(
    turn: Turn, topic: Topic | None, asked: alter.ReassignablePartition, *, may_change_factor: bool
) -> Wish | Refusal:
    partition = topic.partitions.get(asked.partition_index) if topic else None
    if topic is None or partition is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no such partition.")
    if asked.replicas is None:
        return _cancelled(turn, topic, partition)
    refusal = _target_error(turn, partition, asked.replicas, may_change_factor=may_change_factor)
    return refusal or _moved(partition, tuple(asked.replicas))


def _target_error(
    turn: Turn, partition: Partition, replicas: list[int], *, may_change_factor: bool
) -> Refusal | None:
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        return Refusal(code, "The manual partition assignment includes an empty replica list.")
    if len(set(replicas)) != len(replicas):
        return Refusal(code, "The manual partition assignment includes a broker more than once.")
    unknown = [broker for broker in replicas if broker not in turn.image.brokers]
    if unknown:
        return Refusal(
            code,
            f"The manual partition assignment includes broker {unknown[0]}, but no such broker "
            "is registered.",
        )
    if not may_change_factor and len(replicas) != len(_original(partition)):
        return Refusal(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "The replication factor is changed from "
            f"{len(_original(partition))} to {len(replicas)}",
        )
    return None


def _original(partition: Partition) -> tuple[int, ...]:
    """The replicas without those that a move under way adds."""
    return tuple(one for one in partition.replicas if one not in partition.adding_replicas)


def _moved(partition: Partition, target: tuple[int, ...]) -> Wish:
    original = _original(partition)
    removing = tuple(one for one in partition.replicas if one not in target)
    return Wish(
        replicas=(*target, *removing),
        removing_replicas=removing,
        adding_replicas=tuple(one for one in target if one not in original),
    )


def _cancelled(turn: Turn, topic: Topic, partition: Partition) -> Wish | Refusal:
    if not partition.is_reassigning:
        return Refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    original = _original(partition)
    isr = tuple(one for one in partition.isr if one in original)
    may_lead = partitions.rules_for(turn, topic, partition, turn.is_active).may_lead
    may_be_unclean = turn.allows_unclean(topic.name)
    if not isr and not (may_be_unclean and any(may_lead(one) for one in original)):
        return Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Unable to cancel: none of the original replicas is in sync, and none may be elected "
            "uncleanly.",
        )
    return Wish(
        replicas=original,
        isr=isr,
        removing_replicas=(),
        adding_replicas=(),
        election=Election.UNCLEAN if may_be_unclean else Election.ONLINE,
    )


def list_reassignments(turn: Turn, request: listing.ListPartitionReassignmentsRequest) -> Decision:
    """The partitions on the move, all or of those named."""
    if request.topics is None:
        wanted = [(topic, sorted(topic.partitions)) for topic in turn.image.topics.values()]
    else:
        wanted = [
            (turn.image.topics[one.name], list(one.partition_indexes))
            for one in request.topics
            if one.name in turn.image.topics
        ]
    topics = []
    for topic, indexes in wanted:
        moving = [
            listing.OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding_replicas),
                removing_replicas=list(partition.removing_replicas),
            )
            for index in indexes
            if (partition := topic.partitions.get(index)) is not None and partition.is_reassigning
        ]
        if moving:
            topics.append(listing.OngoingTopicReassignment(name=topic.name, partitions=moving))
    response = listing.ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, topics=topics
    )
    return Decision(response=response)
