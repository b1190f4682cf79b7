"""Topics made, grown, moved, described and removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.compat.differential.case import Case, case

from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages import create_partitions as growing
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import describe_topic_partitions as paging
from quire.protocol.messages import elect_leaders as electing
from quire.protocol.messages import list_partition_reassignments as listing
from quire.protocol.messages import metadata

STRANGE_ID = bytes(range(16))
ZERO = bytes(16)


def topic(name: str, partitions: int = 1, factor: int = 1, **more: Any) -> creating.CreatableTopic:
    return creating.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            creating.CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in more.get("assigned", [])
        ],
        configs=[
            creating.CreatableTopicConfig(name=name, value=value)
            for name, value in more.get("configs", [])
        ],
    )


def create(*topics: creating.CreatableTopic, validate_only: bool = False) -> Any:
    return creating.CreateTopicsRequest(
        topics=list(topics), timeout_ms=10_000, validate_only=validate_only
    )


def each(make: Callable[[int], creating.CreatableTopic]) -> Callable[[int], Any]:
    return lambda version: create(make(version))


CREATION: list[Case] = [
    case("create", each(lambda v: topic(f"plain-{v}", 3))),
    case("create: it is there", create(topic("plain-7"))),
    case("create: validate only", create(topic("never", 2), validate_only=True)),
    case("create: nothing", create()),
    case("create: default counts", each(lambda v: topic(f"defaults-{v}", -1, -1))),
    case("create: no partitions", create(topic("bad", 0))),
    case("create: fewer than no partitions", create(topic("bad", -2))),
    case("create: replicated nowhere", create(topic("bad", 1, 0))),
    case("create: replicated -2 times", create(topic("bad", 1, -2))),
    case("create: more replicas than brokers", create(topic("bad", 1, 3))),
    case("create: very many partitions", create(topic("bad", 100_000))),
    case("create: 2^31-1 partitions", create(topic("bad", 2**31 - 1))),
    case("create: twice in one request", create(topic("twice"), topic("twice", 2))),
    case("create: empty name", create(topic(""))),
    case("create: a dot", create(topic("."))),
    case("create: two dots", create(topic(".."))),
    case("create: 249 letters", each(lambda v: topic(f"{v}" + "n" * 248))),
    case("create: 250 letters", create(topic("n" * 250))),
    case("create: strange letters", create(topic("a b"), topic("ä"), topic("a/b"), topic("a\0b"))),
    case("create: dots and underscores", each(lambda v: topic(f"so.it-{v}"))),
    case("create: colliding dots and underscores", each(lambda v: topic(f"so_it-{v}"))),
    case("create: the metadata topic", create(topic("__cluster_metadata"))),
    case("create: some good, some bad", lambda v: create(topic(f"good-{v}"), topic("bad", 0))),
    case("create: settings", each(lambda v: topic(f"set-{v}", configs=[
        ("cleanup.policy", "compact"), ("retention.ms", "1000"), ("min.insync.replicas", "1")]))),
    case("create: unknown setting", create(topic("bad", configs=[("no.such", "1")]))),
    case("create: bad value", create(topic("bad", configs=[("retention.ms", "soon")]))),
    case("create: out of bounds", create(topic("bad", configs=[("segment.bytes", "1")]))),
    case("create: null value", create(topic("bad", configs=[("retention.ms", None)]))),
    case("create: a setting twice", each(lambda v: topic(f"again-{v}", configs=[
        ("retention.ms", "1000"), ("retention.ms", "2000")]))),
    case("create: remote storage", create(topic("bad", configs=[("remote.storage.enable", "true")]))),
    case("create: assigned", each(lambda v: topic(f"assigned-{v}", -1, -1, assigned=[
        (0, [1]), (1, [1])]))),
    case("create: assigned to a stranger", create(topic("bad", -1, -1, assigned=[(0, [77])]))),
    case("create: assigned twice", create(topic("bad", -1, -1, assigned=[(0, [1, 1])]))),
    case("create: assigned to nobody", create(topic("bad", -1, -1, assigned=[(0, [])]))),
    case("create: assigned with a gap", create(topic("bad", -1, -1, assigned=[(0, [1]), (2, [1])]))),
    case("create: assigned from 1", create(topic("bad", -1, -1, assigned=[(1, [1])]))),
    case("create: assigned the same index twice",
         create(topic("bad", -1, -1, assigned=[(0, [1]), (0, [1])]))),
    case("create: assigned unevenly",
         create(topic("bad", -1, -1, assigned=[(0, [1]), (1, [1, 2])]))),
    case("create: assigned and counted", create(topic("bad", 1, 1, assigned=[(0, [1])]))),
    case("create: assigned and factor", create(topic("bad", -1, 1, assigned=[(0, [1])]))),
]  # fmt: skip


def grow(
    name: str, count: int, assigned: list[list[int]] | None = None, *, validate_only: bool = False
) -> Any:
    return growing.CreatePartitionsRequest(
        topics=[grown(name, count, assigned)], timeout_ms=10_000, validate_only=validate_only
    )


def grown(name: str, count: int, assigned: list[list[int]] | None = None) -> Any:
    return growing.CreatePartitionsTopic(
        name=name,
        count=count,
        assignments=None
        if assigned is None
        else [growing.CreatePartitionsAssignment(broker_ids=ids) for ids in assigned],
    )


GROWTH: list[Case] = [
    case("grow", lambda v: grow("plain-2", 4 + v)),
    case("grow: assigned", lambda v: grow("plain-3", 4 + v, [[1]])),
    case("grow: validate only", grow("plain-4", 9, validate_only=True)),
    case("grow: to what it has", grow("plain-4", 3)),
    case("grow: to fewer", grow("plain-4", 1)),
    case("grow: to none", grow("plain-4", 0)),
    case("grow: to -1", grow("plain-4", -1)),
    case("grow: unknown", grow("nobody", 3)),
    case("grow: empty name", grow("", 3)),
    case("grow: too few assigned", grow("plain-4", 5, [[1]])),
    case("grow: too many assigned", grow("plain-4", 4, [[1], [1]])),
    case("grow: assigned to a stranger", grow("plain-4", 4, [[77]])),
    case("grow: assigned to nobody", grow("plain-4", 4, [[]])),
    case("grow: assigned twice to one", grow("plain-4", 4, [[1, 1]])),
    case("grow: another factor", grow("plain-4", 4, [[1, 2]])),
    case("grow: no assignments", grow("plain-4", 4, [])),
    case("grow: very much", grow("plain-4", 100_000, validate_only=True)),
    case("grow: one topic twice", growing.CreatePartitionsRequest(
        topics=[grown("plain-4", 9), grown("plain-4", 9)], timeout_ms=1000, validate_only=False)),
    case("grow: nothing", growing.CreatePartitionsRequest(
        topics=[], timeout_ms=1000, validate_only=False)),
    case("grow: no time", lambda v: growing.CreatePartitionsRequest(
        topics=[grown("plain-5", 4 + v)], timeout_ms=60_000, validate_only=True)),
]  # fmt: skip


def ask_metadata(*names: str, v: int, **more: Any) -> metadata.MetadataRequest:
    if v >= 4:
        more.setdefault("allow_auto_topic_creation", False)
    if v >= 8:
        more.setdefault("include_topic_authorized_operations", True)
    if 8 <= v <= 10:
        more.setdefault("include_cluster_authorized_operations", True)
    return metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name=name) for name in names], **more
    )


def by_id(topic_id: bytes, name: str | None = None, v: int = 12) -> metadata.MetadataRequest:
    del v
    return metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name=name, topic_id=topic_id)],
        allow_auto_topic_creation=False,
    )


METADATA: list[Case] = [
    case("metadata: one topic", lambda v: ask_metadata("plain-2", v=v)),
    case("metadata: nothing", lambda v: ask_metadata(v=v), since=1),
    case("metadata: all", lambda v: metadata.MetadataRequest(topics=None), since=1),
    case("metadata: all, before null", lambda v: ask_metadata(v=v), until=0),
    case("metadata: no such topic", lambda v: ask_metadata("no-such", v=v), since=4),
    case("metadata: bad names", lambda v: ask_metadata("", "a b", "..", "n" * 250, v=v)),
    case("metadata: twice", lambda v: ask_metadata("plain-2", "plain-2", v=v)),
    case("metadata: good and unknown", lambda v: ask_metadata("plain-3", "no-such", v=v), since=4),
    case("metadata: operations", lambda v: ask_metadata("plain-3", v=v), since=8),
    case("metadata: no operations", lambda v: ask_metadata(
        "plain-3", v=v, include_topic_authorized_operations=False), since=8),
    case("metadata: unknown id", by_id(STRANGE_ID), since=10),
    case("metadata: zero id, no name", by_id(ZERO), since=10),
    case("metadata: id and name", by_id(STRANGE_ID, "plain-2"), since=10),
    case("metadata: auto creation", lambda v: ask_metadata(
        f"auto-{v}", v=v, allow_auto_topic_creation=True), since=4),
    case("metadata: auto creation of a bad name", lambda v: ask_metadata(
        "a b", v=v, allow_auto_topic_creation=True), since=4),
    case("metadata: auto creation of a collision", lambda v: ask_metadata(
        "so_it-5", v=v, allow_auto_topic_creation=True), since=4),
]  # fmt: skip


def page(*names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Any:
    return paging.DescribeTopicPartitionsRequest(
        topics=[paging.TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None
        if cursor is None
        else paging.DescribeTopicPartitionsRequestCursor(
            topic_name=cursor[0], partition_index=cursor[1]
        ),
    )


PAGES: list[Case] = [
    case("pages: some", page("plain-2", "plain-3", "no-such")),
    case("pages: unordered and twice", page("plain-3", "plain-2", "plain-3")),
    case("pages: all, five", page(limit=5)),
    case("pages: limit 0", page("plain-2", limit=0)),
    case("pages: limit -1", page("plain-2", limit=-1)),
    case("pages: limit 1", page("plain-2", limit=1)),
    case("pages: limit hits the end", page("plain-5", "plain-6", limit=3)),
    case("pages: limit hits the end of the last", page("plain-5", limit=3)),
    case("pages: limit above the maximum", page("plain-2", limit=1_000_000)),
    case("pages: cursor", page("plain-2", "plain-3", limit=2, cursor=("plain-2", 3))),
    case("pages: cursor at another", page("plain-2", "plain-3", cursor=("plain-22", 1))),
    case("pages: cursor without topics", page(cursor=("plain-6", 1), limit=4)),
    case("pages: cursor past the partitions", page("plain-5", cursor=("plain-5", 99))),
    case("pages: negative cursor", page("plain-5", cursor=("plain-5", -1))),
    case("pages: cursor unknown topic", page("no-such", cursor=("no-such", 0))),
    case("pages: bad names", page("", "a b", "n" * 250)),
    case("pages: unknown first, limit 1", page("a-none", "plain-5", limit=1)),
]


def elect(kind: int, partitions: list[tuple[str, list[int]]] | None, v: int) -> Any:
    more = {"election_type": kind} if v >= 1 else {}
    return electing.ElectLeadersRequest(
        topic_partitions=None
        if partitions is None
        else [
            electing.TopicPartitions(topic=name, partitions=list(ids)) for name, ids in partitions
        ],
        timeout_ms=1000,
        **more,
    )


def move(name: str, index: int, replicas: list[int] | None, v: int, **more: Any) -> Any:
    if v < 1:
        more = {}
    return moving.AlterPartitionReassignmentsRequest(
        timeout_ms=1000,
        topics=[
            moving.ReassignableTopic(
                name=name,
                partitions=[moving.ReassignablePartition(partition_index=index, replicas=replicas)],
            )
        ],
        **more,
    )


def moves(topics: list[tuple[str, list[int]]] | None) -> Any:
    return listing.ListPartitionReassignmentsRequest(
        timeout_ms=1000,
        topics=None
        if topics is None
        else [
            listing.ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
            for name, indexes in topics
        ],
    )


MOVES: list[Case] = [
    case("elect: preferred", lambda v: elect(0, [("plain-2", [0, 1])], v)),
    case("elect: unclean", lambda v: elect(1, [("plain-2", [0])], v), since=1),
    case("elect: unknown kind", lambda v: elect(9, [("plain-2", [0])], v), since=1),
    case("elect: everywhere", lambda v: elect(0, None, v)),
    case("elect: unclean everywhere", lambda v: elect(1, None, v), since=1),
    case("elect: unknown", lambda v: elect(0, [("no-such", [0]), ("plain-2", [99, -1])], v)),
    case("elect: nothing", lambda v: elect(0, [], v)),
    case("elect: twice", lambda v: elect(0, [("plain-2", [0, 0]), ("plain-2", [0])], v)),
    case("move: to where it is", lambda v: move("plain-2", 0, [1], v)),
    case("move: to a stranger", lambda v: move("plain-2", 0, [77], v)),
    case("move: to nobody", lambda v: move("plain-2", 0, [], v)),
    case("move: twice to one", lambda v: move("plain-2", 0, [1, 1], v)),
    case("move: to -1", lambda v: move("plain-2", 0, [-1], v)),
    case("move: cancel what does not move", lambda v: move("plain-2", 0, None, v)),
    case("move: unknown topic", lambda v: move("no-such", 0, [1], v)),
    case("move: unknown partition", lambda v: move("plain-2", 99, [1], v)),
    case("move: same factor only", lambda v: move(
        "plain-2", 0, [1, 2], v, allow_replication_factor_change=False), since=1),
    case("moves: all", moves(None)),
    case("moves: some", moves([("plain-2", [0, 1]), ("no-such", [0])])),
    case("moves: none", moves([])),
    case("moves: unknown partition", moves([("plain-2", [99])])),
]  # fmt: skip


def delete(v: int, *names: str) -> Any:
    if v < 6:
        return deleting.DeleteTopicsRequest(topic_names=list(names), timeout_ms=10_000)
    topics = [deleting.DeleteTopicState(name=name, topic_id=ZERO) for name in names]
    return deleting.DeleteTopicsRequest(topics=topics, timeout_ms=10_000)


def delete_by_id(topic_id: bytes, name: str | None = None) -> Any:
    topics = [deleting.DeleteTopicState(name=name, topic_id=topic_id)]
    return deleting.DeleteTopicsRequest(topics=topics, timeout_ms=10_000)


DELETION: list[Case] = [
    case("delete", lambda v: delete(v, f"good-{v + 1}")),
    case("delete: unknown", lambda v: delete(v, "no-such")),
    case("delete: bad names", lambda v: delete(v, "", "a b")),
    case("delete: twice", lambda v: delete(v, "plain-2", "plain-2")),
    case("delete: nothing", delete),
    case("delete: some good, some bad", lambda v: delete(v, f"so.it-{v + 1}", "no-such")),
    case("delete: the metadata topic", lambda v: delete(v, "__cluster_metadata")),
    case("delete: unknown id", delete_by_id(STRANGE_ID), since=6),
    case("delete: neither id nor name", delete_by_id(ZERO), since=6),
    case("delete: id and name", delete_by_id(STRANGE_ID, "plain-2"), since=6),
]

BEFORE = [*CREATION, *GROWTH, *METADATA, *PAGES, *MOVES]
AFTER = DELETION
