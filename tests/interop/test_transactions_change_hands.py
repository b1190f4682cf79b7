"""Transactions and offsets in one data directory, coordinated by one system, by the other, and by the first again.

Each finds what the other left: who is in which transaction, what is committed, what is not decided yet; and ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.compat import wire
from tests.interop.kafka import Kafka, require_java
from tests.interop.killable import Killable
from tests.interop.quire_node import QuireNode

from quire.errors import ErrorCode
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import describe_groups as describing
from quire.protocol.messages import describe_producers as listing
from quire.protocol.messages import describe_transactions as telling
from quire.protocol.messages import end_txn as ending
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import init_producer_id as beginning
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import list_offsets as ends
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import produce as producing
from quire.protocol.messages import txn_offset_commit as promising
from quire.records.batch import encode_pairs

pytestmark = [pytest.mark.peer, pytest.mark.slow]

TOPIC = "handed"
PATIENCE_SECONDS = 30
NOT_YET = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.MEMBER_ID_REQUIRED,
)
GROUPS = ("plain", "in-committed", "in-aborted", "in-open")
IDS = ("commits", "aborts", "stays-open")
Node = type[Kafka] | type[QuireNode]


class Producer(NamedTuple):
    name: str
    id: int
    epoch: int


class Talk:
    """What is asked of whoever runs; again while it is not ready."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def ask(self, request: Any, version: int, code: Callable[[Any], int]) -> Any:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = wire.ask(self.bootstrap, request, version)
            if code(answer) not in NOT_YET:
                assert code(answer) == ErrorCode.NONE, answer
                return answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)

    def ready(self, *, led: bool = True) -> None:
        """Until there are coordinators, and somebody leads the topic."""
        for kind, key in ((0, GROUPS[0]), (1, IDS[0])):
            request = finding.FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            self.ask(request, 4, lambda answer: answer.coordinators[0].error_code)
        if led:
            self.ask(
                ends.ListOffsetsRequest(
                    replica_id=-1,
                    topics=[
                        ends.ListOffsetsTopic(
                            name=TOPIC,
                            partitions=[ends.ListOffsetsPartition(partition_index=0, timestamp=-1)],
                        )
                    ],
                ),
                7,
                lambda answer: answer.topics[0].partitions[0].error_code,
            )

    def make(self, topic: str) -> None:
        wanted = creating.CreatableTopic(
            name=topic, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        request = creating.CreateTopicsRequest(topics=[wanted])
        self.ask(request, 7, lambda answer: answer.topics[0].error_code)

    def begin(self, name: str) -> Producer:
        request = beginning.InitProducerIdRequest(
            transactional_id=name, transaction_timeout_ms=600_000
        )
        answer = self.ask(request, 4, lambda answer: answer.error_code)
        return Producer(name, answer.producer_id, answer.producer_epoch)

    def produce(self, who: Producer, value: bytes) -> None:
        batch = encode_pairs(
            [(b"k", value)], int(time.time() * 1000), producer_id=who.id,
            producer_epoch=who.epoch, base_sequence=0, is_transactional=True,
        )  # fmt: skip
        data = producing.PartitionProduceData(index=0, records=bytes(batch))
        request = producing.ProduceRequest(
            transactional_id=who.name, acks=-1, timeout_ms=10_000,
            topic_data=[producing.TopicProduceData(name=TOPIC, partition_data=[data])],
        )  # fmt: skip
        self.ask(request, 12, lambda answer: answer.responses[0].partition_responses[0].error_code)

    def promise(self, who: Producer, group: str, offset: int) -> None:
        """An offset that counts when the transaction is committed."""
        place = promising.TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=group
        )
        request = promising.TxnOffsetCommitRequest(
            transactional_id=who.name, group_id=group, producer_id=who.id,
            producer_epoch=who.epoch,
            topics=[promising.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[place])],
        )  # fmt: skip
        self.ask(request, 5, lambda answer: answer.topics[0].partitions[0].error_code)

    def end(self, who: Producer, *, commit: bool) -> Producer:
        request = ending.EndTxnRequest(
            transactional_id=who.name, producer_id=who.id, producer_epoch=who.epoch,
            committed=commit,
        )  # fmt: skip
        answer = self.ask(request, 5, lambda answer: answer.error_code)
        return Producer(who.name, answer.producer_id, answer.producer_epoch)

    def commit(self, group: str, offset: int) -> None:
        place = committing.OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=group
        )
        request = committing.OffsetCommitRequest(
            group_id=group, member_id="",
            topics=[committing.OffsetCommitRequestTopic(name=TOPIC, partitions=[place])],
        )  # fmt: skip
        self.ask(request, 9, lambda answer: answer.topics[0].partitions[0].error_code)

    def join(self, group: str) -> None:
        """A member with a short session, of which nothing is heard again."""
        protocol = joining.JoinGroupRequestProtocol(name="range", metadata=b"\0\0" + b"\0" * 8)
        request = joining.JoinGroupRequest(
            group_id=group, session_timeout_ms=6000, rebalance_timeout_ms=6000, member_id="",
            protocol_type="consumer", protocols=[protocol],
        )  # fmt: skip
        self.ask(request, 3, lambda answer: answer.error_code)

    def state_of(self, group: str) -> str:
        request = describing.DescribeGroupsRequest(groups=[group])
        answer = self.ask(request, 5, lambda answer: answer.groups[0].error_code)
        state: str = answer.groups[0].group_state
        return state

    def offset_of(self, group: str, *, stable: bool) -> tuple[int, int, str | None]:
        """(error, offset, note); a stable one is refused while a transaction decides about it."""
        topic = fetching.OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])
        request = fetching.OffsetFetchRequest(
            groups=[fetching.OffsetFetchRequestGroup(group_id=group, topics=[topic])],
            require_stable=stable,
        )
        answer = self.ask(request, 9, lambda answer: answer.groups[0].error_code)
        found = answer.groups[0].topics[0].partitions[0]
        return found.error_code, found.committed_offset, found.metadata

    def transaction(self, name: str) -> tuple[Any, ...]:
        request = telling.DescribeTransactionsRequest(transactional_ids=[name])
        answer = self.ask(request, 0, lambda answer: answer.transaction_states[0].error_code)
        found = answer.transaction_states[0]
        return (
            found.transaction_state, found.producer_id, found.producer_epoch,
            found.transaction_timeout_ms,
            sorted((one.topic, tuple(one.partitions)) for one in found.topics),
        )  # fmt: skip

    def producers(self) -> list[tuple[int, ...]]:
        topic = listing.TopicRequest(name=TOPIC, partition_indexes=[0])
        request = listing.DescribeProducersRequest(topics=[topic])
        answer = self.ask(request, 0, lambda answer: answer.topics[0].partitions[0].error_code)
        return sorted(
            (
                one.producer_id, one.producer_epoch, one.last_sequence,
                one.current_txn_start_offset,
            )
            for one in answer.topics[0].partitions[0].active_producers
        )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """All that a successor must know."""
        return {
            **{group: self.offset_of(group, stable=False) for group in GROUPS},
            **{f"{group}, stable": self.offset_of(group, stable=True) for group in GROUPS},
            **{name: self.transaction(name) for name in IDS},
            "producers": self.producers(),
            "stable": wire.last_stable_offset(self.bootstrap, TOPIC),
        }

    def settled(self, name: str) -> None:
        """Until the end of a transaction is complete."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.transaction(name)[0].startswith(("Complete", "Empty")):
            assert time.monotonic() < deadline, self.transaction(name)
            time.sleep(0.1)


@contextmanager
def running(node: Kafka | QuireNode, *, led: bool = True) -> Any:
    with node.running():
        talk = Talk(node.bootstrap)
        talk.ready(led=led)
        yield talk


def of(kind: Node, directory: Path) -> Kafka | QuireNode:
    return kind(directory / kind.__name__, directory / "data")


@pytest.mark.parametrize(("first", "second"), [(QuireNode, Kafka), (Kafka, QuireNode)])
def test_transactions_and_their_offsets_change_hands(
    tmp_path: Path, first: Node, second: Node
) -> None:
    require_java()
    of(first, tmp_path).format()
    with running(of(first, tmp_path), led=False) as talk:
        talk.make(TOPIC)
        talk.commit("plain", 41)
        talk.join("deserted")
        for name, group, commit in (
            ("commits", "in-committed", True),
            ("aborts", "in-aborted", False),
        ):
            who = talk.begin(name)
            talk.produce(who, name.encode())
            talk.promise(who, group, 7)
            talk.end(who, commit=commit)
            talk.settled(name)
        left = talk.begin("stays-open")
        talk.produce(left, b"open")
        talk.promise(left, "in-open", 9)
        before = talk.facts()
        assert before["plain"] == (0, 41, "plain")
        assert before["in-committed"] == (0, 7, "in-committed")
        assert before["in-aborted"][1] == before["in-open"][1] == -1
        assert before["in-open, stable"][0] == ErrorCode.UNSTABLE_OFFSET_COMMIT
        assert before["stays-open"][0] == "Ongoing"

    with running(of(second, tmp_path)) as talk:
        assert talk.facts() == before
        ended = talk.end(left, commit=True)
        talk.settled("stays-open")
        assert talk.offset_of("in-open", stable=True) == (0, 9, "in-open")
        talk.produce(ended, b"open again")
        talk.promise(ended, "in-open", 10)
        talk.commit("plain", 42)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while talk.state_of("deserted") not in ("Empty", "Dead"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        changed = talk.facts()
        assert changed["in-open"] == (0, 9, "in-open")
        assert changed["in-open, stable"][0] == ErrorCode.UNSTABLE_OFFSET_COMMIT

    with running(of(first, tmp_path)) as talk:
        assert talk.facts() == changed
        talk.end(ended, commit=False)
        talk.settled("stays-open")
        assert talk.offset_of("in-open", stable=True) == (0, 9, "in-open")
        assert talk.offset_of("plain", stable=True) == (0, 42, "plain")
        assert wire.last_stable_offset(talk.bootstrap, TOPIC) == 8


@pytest.mark.parametrize(("first", "second"), [(QuireNode, Kafka), (Kafka, QuireNode)])
def test_a_transaction_whose_end_was_answered_is_ended_by_the_other_system(
    tmp_path: Path, first: Node, second: Node
) -> None:
    require_java()
    killed = Killable(of(first, tmp_path))
    ended = {}
    with killed.running():
        talk = Talk(killed.bootstrap)
        talk.ready(led=False)
        talk.make(TOPIC)
        producers = [talk.begin(f"sudden-{n}") for n in range(20)]
        for who in producers:
            talk.produce(who, who.name.encode())
            talk.promise(who, f"of-{who.name}", 5)
        for number, who in enumerate(producers):
            ended[who.name] = number % 2 == 0
            talk.end(who, commit=number % 2 == 0)
        killed.strike()
    with running(of(second, tmp_path)) as talk:
        for name, committed in ended.items():
            talk.settled(name)
            state = talk.transaction(name)[0]
            assert state == ("CompleteCommit" if committed else "CompleteAbort")
            expected = (0, 5, f"of-{name}") if committed else (0, -1, "")
            assert talk.offset_of(f"of-{name}", stable=True) == expected
        assert {one[-1] for one in talk.producers()} == {-1}
        assert wire.last_stable_offset(talk.bootstrap, TOPIC) >= 40, "a marker may come twice"
