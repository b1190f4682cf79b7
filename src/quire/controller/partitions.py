"""Leaders and in-sync sets of existing partitions: who asks for a change, and what comes of it.

Leaders propose in-sync sets (AlterPartition), operators ask for elections, brokers come and go
(`repair`, for brokers), timers balance leaders and try unclean elections, brokers tell which
directory holds which replica. What a change means is in partition_change.

Invariants
  I1  A proposal is taken only from the leader, at the current leader epoch and partition epoch.
  I2  Nobody enters an in-sync set who is fenced, shutting down, or registered anew since.
Not here   moving replicas (reassignments).
See        KIP-497, KIP-841, KIP-903, KIP-966, KIP-183, KIP-460, KIP-858
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.controller.partition_change import Election, Rules, Wish, change_of
from quire.errors import ErrorCode
from quire.metadata.delta import changed_partition
from quire.metadata.image import NO_LEADER, RECOVERED, RECOVERING, Partition, Topic
from quire.metadata.records import MetadataRecord
from quire.protocol.messages import alter_partition as alter
from quire.protocol.messages import assign_replicas_to_dirs as assign
from quire.protocol.messages import elect_leaders as elect
from quire.protocol.messages.metadata_records import PartitionChangeRecord

Place = tuple[Topic, int, Partition]
"""A partition and where it is."""

ELECTIONS_PER_RUN: Final = 1000
"""How many leaders one run of a timer moves at most; the next run goes on."""


def rules_for(
    turn: Turn, topic: Topic, partition: Partition, may_lead: Callable[[int], bool]
) -> Rules:
    """The cluster's word on changes of this partition; who may lead must also have its disk."""

    def may_lead_here(broker_id: int) -> bool:
        broker = turn.image.brokers.get(broker_id)
        if broker is None or not may_lead(broker_id):
            return False
        return broker.has_online_directory(partition.directory_of(broker_id))

    return Rules(
        metadata_version=turn.image.metadata_version,
        with_elr=turn.image.has_elr,
        min_insync_replicas=turn.min_insync_replicas(topic.name),
        may_lead=may_lead_here,
        default_directory=turn.default_directory,
    )


def changed(
    turn: Turn, place: Place, wish: Wish, may_lead: Callable[[int], bool] | None = None
) -> PartitionChangeRecord | None:
    """What one partition's wish comes to."""
    topic, index, partition = place
    rules = rules_for(turn, topic, partition, may_lead or turn.is_active)
    return change_of(topic.topic_id, index, partition, wish, rules)


def repair(
    turn: Turn,
    places: Iterable[Place],
    *,
    leaving: int = NO_LEADER,
    joining: int = NO_LEADER,
    lost: int = NO_LEADER,
) -> list[MetadataRecord]:
    """The changes that a broker's fate brings: one that leaves, one that joins, one that restarted
    without having stopped cleanly (`lost`).
    """

    def may_lead(broker_id: int) -> bool:
        if broker_id in (leaving, lost):
            return False
        return broker_id == joining or turn.is_active(broker_id)

    found = []
    for place in places:
        topic, _, partition = place
        wish = Wish(
            isr=tuple(one for one in partition.isr if one not in (leaving, lost)),
            election=Election.UNCLEAN if turn.allows_unclean(topic.name) else Election.ONLINE,
            unclean_shutdown=frozenset({lost}),
        )
        change = changed(turn, place, wish, may_lead)
        if change is not None:
            found.append(turn.record(change))
    return found


def in_sync_on(turn: Turn, broker_id: int) -> list[Place]:
    """The partitions in whose in-sync set a broker is."""
    return [place for place in turn.image.partitions() if broker_id in place[2].isr]


def without_leader(turn: Turn) -> list[Place]:
    return [place for place in turn.image.partitions() if place[2].leader == NO_LEADER]


def leads_any(turn: Turn, broker_id: int) -> bool:
    return any(partition.leader == broker_id for _, _, partition in turn.image.partitions())


# --- AlterPartition --------------------------------------------------------------------------


def alter_partition(turn: Turn, request: alter.AlterPartitionRequest) -> Decision:
    """Leaders propose new in-sync sets."""
    if turn.broker_at(request.broker_id, request.broker_epoch) is None:
        return Decision(
            response=alter.AlterPartitionResponse(
                throttle_time_ms=0, error_code=ErrorCode.STALE_BROKER_EPOCH, topics=[]
            )
        )
    records: list[MetadataRecord] = []
    topics = []
    for asked in request.topics:
        answers = []
        for proposal in asked.partitions:
            record, answer = _proposal(turn, request.broker_id, asked.topic_id, proposal)
            answers.append(answer)
            if record is not None:
                records.append(turn.record(record))
        topics.append(
            alter.AlterPartitionResponseTopicData(topic_id=asked.topic_id, partitions=answers)
        )
    response = alter.AlterPartitionResponse(throttle_time_ms=0, error_code=0, topics=topics)
    return Decision(tuple(records), response)


def _proposal(
    turn: Turn, leader: int, topic_id: bytes, proposal: alter.AlterPartitionRequestPartitionData
) -> tuple[PartitionChangeRecord | None, alter.AlterPartitionResponsePartitionData]:
    index = proposal.partition_index
    topic = turn.image.topic_by_id(topic_id)
    if topic is None:
        return None, _refused(index, ErrorCode.UNKNOWN_TOPIC_ID)
    before = topic.partitions.get(index)
    if before is None:
        return None, _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    code = _proposal_error(turn, leader, before, proposal)
    if code is not ErrorCode.NONE:
        return None, _refused(index, code)
    wish = Wish(
        isr=tuple(_proposed_isr(proposal)),
        leader_recovery_state=proposal.leader_recovery_state,
        election=Election.UNCLEAN if turn.allows_unclean(topic.name) else Election.ONLINE,
    )
    record = changed(turn, (topic, index, before), wish)
    after = before if record is None else changed_partition(before, record)
    if after.leader != leader:
        return record, _refused(index, ErrorCode.NEW_LEADER_ELECTED)
    answer = alter.AlterPartitionResponsePartitionData(
        partition_index=index,
        error_code=0,
        leader_id=after.leader,
        leader_epoch=after.leader_epoch,
        isr=list(after.isr),
        leader_recovery_state=after.leader_recovery_state,
        partition_epoch=after.partition_epoch,
    )
    return record, answer


def _proposed_isr(proposal: alter.AlterPartitionRequestPartitionData) -> list[int]:
    return proposal.new_isr or [one.broker_id for one in proposal.new_isr_with_epochs]


def _proposal_error(
    turn: Turn,
    leader: int,
    before: Partition,
    proposal: alter.AlterPartitionRequestPartitionData,
) -> ErrorCode:
    """Why a proposal is not taken; NONE when it is."""
    if proposal.leader_epoch > before.leader_epoch:
        return ErrorCode.NOT_CONTROLLER
    if proposal.partition_epoch > before.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    if proposal.leader_epoch < before.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if leader != before.leader:
        return ErrorCode.INVALID_REQUEST
    if proposal.partition_epoch < before.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    isr = _proposed_isr(proposal)
    state = proposal.leader_recovery_state
    malformed = (
        leader not in isr
        or len(set(isr)) != len(isr)
        or not set(isr) <= set(before.replicas)
        or state not in (RECOVERED, RECOVERING)
        or (state == RECOVERING and len(isr) > 1)
        or (state == RECOVERING and before.leader_recovery_state == RECOVERED)
    )
    if malformed:
        return ErrorCode.INVALID_REQUEST
    epochs = {one.broker_id: one.broker_epoch for one in proposal.new_isr_with_epochs}
    for one in isr:
        broker = turn.image.brokers.get(one)
        if broker is None or not broker.is_active:
            return ErrorCode.INELIGIBLE_REPLICA
        if epochs.get(one, -1) not in (-1, broker.broker_epoch):
            return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE


def _refused(index: int, code: ErrorCode) -> alter.AlterPartitionResponsePartitionData:
    return alter.AlterPartitionResponsePartitionData(
        partition_index=index,
        error_code=code,
        leader_id=0,
        leader_epoch=0,
        isr=[],
        partition_epoch=0,
    )


# --- elections on demand, and by the clock -----------------------------------------------------

_PREFERRED: Final = 0
_UNCLEAN: Final = 1


def elect_leaders(turn: Turn, request: elect.ElectLeadersRequest) -> Decision:
    """An operator wants the preferred leaders back, or any leader at all.

    Asked for everywhere, every topic is answered, with the partitions where something was to be done.
    """
    if request.election_type not in (_PREFERRED, _UNCLEAN):
        return _unknown_election(request)
    election = Election.PREFERRED if request.election_type == _PREFERRED else Election.UNCLEAN
    everywhere = request.topic_partitions is None
    wanted: list[tuple[str, Iterable[int]]] = (
        [(topic.name, topic.partitions) for topic in turn.image.topics.values()]
        if request.topic_partitions is None
        else [(one.topic, one.partitions) for one in request.topic_partitions]
    )
    records: dict[tuple[str, int], MetadataRecord] = {}
    listed = []
    for name, indexes in wanted:
        results = []
        for index in indexes:
            outcome = _election(turn, name, index, election)
            if isinstance(outcome, Refusal):
                if everywhere and outcome.code is ErrorCode.ELECTION_NOT_NEEDED:
                    continue
                code, message = outcome.code, outcome.message or outcome.code.text
            else:
                records[name, index] = turn.record(outcome)
                code, message = ErrorCode.NONE, None
            results.append(
                elect.PartitionResult(partition_id=index, error_code=code, error_message=message)
            )
        listed.append(elect.ReplicaElectionResult(topic=name, partition_result=results))
    return _elected(tuple(records.values()), listed, ErrorCode.NONE)


def _unknown_election(request: elect.ElectLeadersRequest) -> Decision:
    code = ErrorCode.INVALID_REQUEST
    message = f"Unknown election type {request.election_type}"
    listed = [
        elect.ReplicaElectionResult(
            topic=one.topic,
            partition_result=[
                elect.PartitionResult(partition_id=index, error_code=code, error_message=message)
                for index in one.partitions
            ],
        )
        for one in request.topic_partitions or ()
    ]
    return _elected((), listed, code)


def _elected(
    records: tuple[MetadataRecord, ...],
    results: list[elect.ReplicaElectionResult],
    code: ErrorCode,
) -> Decision:
    response = elect.ElectLeadersResponse(
        throttle_time_ms=0, error_code=code, replica_election_results=results
    )
    return Decision(records, response)


def _election(
    turn: Turn, name: str, index: int, election: Election
) -> PartitionChangeRecord | Refusal:
    topic = turn.image.topics.get(name)
    partition = topic.partitions.get(index) if topic else None
    if topic is None or partition is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    if election is Election.PREFERRED and partition.leader == partition.preferred_leader:
        return Refusal(ErrorCode.ELECTION_NOT_NEEDED)
    if election is Election.UNCLEAN and partition.leader != NO_LEADER:
        return Refusal(ErrorCode.ELECTION_NOT_NEEDED)
    record = changed(turn, (topic, index, partition), Wish(election=election))
    after = partition if record is None else changed_partition(partition, record)
    if election is Election.PREFERRED and after.leader != partition.preferred_leader:
        return Refusal(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            "The preferred leader was not available.",
        )
    if record is None or after.leader == NO_LEADER:
        return Refusal(
            ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "No eligible leader could be found."
        )
    return record


def balance_leaders(turn: Turn) -> tuple[MetadataRecord, ...]:
    """Give preferred leaders their partitions back, where they are in sync."""
    wish = Wish(election=Election.PREFERRED)
    found = (
        changed(turn, place, wish)
        for place in turn.image.partitions()
        if place[2].leader != place[2].preferred_leader
    )
    return turn.records(list(islice((one for one in found if one is not None), ELECTIONS_PER_RUN)))


def elect_uncleanly(turn: Turn) -> tuple[MetadataRecord, ...]:
    """Where nobody leads and the topic allows it, whoever is alive shall lead."""
    wish = Wish(election=Election.UNCLEAN)
    found = (
        changed(turn, place, wish)
        for place in without_leader(turn)
        if turn.allows_unclean(place[0].name)
    )
    return turn.records(list(islice((one for one in found if one is not None), ELECTIONS_PER_RUN)))


# --- directories -----------------------------------------------------------------------------


def assign_replicas_to_dirs(turn: Turn, request: assign.AssignReplicasToDirsRequest) -> Decision:
    """A broker tells which of its directories holds which replica."""
    broker = turn.broker_at(request.broker_id, request.broker_epoch)
    if broker is None:
        response = assign.AssignReplicasToDirsResponse(
            throttle_time_ms=0, error_code=ErrorCode.STALE_BROKER_EPOCH, directories=[]
        )
        return Decision(response=response)
    records: list[MetadataRecord] = []
    directories = []
    for directory in request.directories:
        topics = []
        for asked in directory.topics:
            answers = []
            for one in asked.partitions:
                outcome = _assignment(
                    turn, broker.broker_id, directory.id, (asked.topic_id, one.partition_index)
                )
                if isinstance(outcome, Refusal):
                    code = outcome.code
                else:
                    code = ErrorCode.NONE
                    records.extend(turn.records(outcome))
                answers.append(
                    assign.AssignReplicasToDirsResponsePartitionData(
                        partition_index=one.partition_index, error_code=code
                    )
                )
            topics.append(
                assign.AssignReplicasToDirsResponseTopicData(
                    topic_id=asked.topic_id, partitions=answers
                )
            )
        directories.append(
            assign.AssignReplicasToDirsResponseDirectoryData(id=directory.id, topics=topics)
        )
    response = assign.AssignReplicasToDirsResponse(
        throttle_time_ms=0, error_code=0, directories=directories
    )
    return Decision(tuple(records), response)


def _assignment(
    turn: Turn, broker_id: int, directory: bytes, where: tuple[bytes, int]
) -> Sequence[PartitionChangeRecord] | Refusal:
    topic_id, index = where
    topic = turn.image.topic_by_id(topic_id)
    if topic is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(index)
    if partition is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if broker_id not in partition.replicas:
        return Refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    online = turn.image.brokers[broker_id].has_online_directory(directory)
    wish = Wish(
        directories={broker_id: directory},
        isr=partition.isr if online else tuple(one for one in partition.isr if one != broker_id),
        election=Election.UNCLEAN if turn.allows_unclean(topic.name) else Election.ONLINE,
    )
    record = changed(
        turn,
        (topic, index, partition),
        wish,
        lambda one: turn.is_active(one) and (online or one != broker_id),
    )
    return () if record is None else (record,)
