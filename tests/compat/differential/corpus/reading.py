"""What was sent, read back: fetches with and without sessions, offsets by time and by name, ends of epochs, producers,
directories; and what is deleted of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.compat.differential.case import SESSION, Case, case, id_of
from tests.compat.differential.corpus.data import HOUR_MS, KINDS, NOW_MS, STRANGE_ID

from quire.protocol.messages import alter_replica_log_dirs as moving
from quire.protocol.messages import delete_records as deleting
from quire.protocol.messages import describe_log_dirs as dirs
from quire.protocol.messages import describe_producers as producers
from quire.protocol.messages import fetch as fetching
from quire.protocol.messages import list_offsets as listing
from quire.protocol.messages import offset_for_leader_epoch as epochs

MANY_BYTES = 1 << 20


def part(index: int = 0, offset: int = 0, *, size: int = MANY_BYTES, **more: Any) -> Any:
    return fetching.FetchPartition(
        partition=index, fetch_offset=offset, partition_max_bytes=size, **more
    )


def fetch(
    *parts: tuple[str, Any], forget: list[tuple[str, list[int]]] | None = None, **more: Any
) -> Callable[[int], Any]:
    """A fetch by name or by id, as its version has it."""
    asked = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 22, **more}

    def make(version: int) -> Any:
        def named(name: str) -> dict[str, Any]:
            return {"topic_id": id_of(name)} if version >= 13 else {"topic": name}

        if version >= 7:
            asked["forgotten_topics_data"] = [
                fetching.ForgottenTopic(partitions=indexes, **named(name))
                for name, indexes in forget or []
            ]
        return fetching.FetchRequest(
            topics=[fetching.FetchTopic(partitions=[one], **named(name)) for name, one in parts],
            **asked,
        )

    return make


def by_id(topic_id: bytes) -> Any:
    return fetching.FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1000,
        topics=[fetching.FetchTopic(topic_id=topic_id, partitions=[part()])],
    )  # fmt: skip


FETCHES: list[Case] = [
    *(case(f"fetch: {name}", fetch((f"d-{name}", part()))) for name in KINDS),
    case("fetch: another partition", fetch(("d-data", part(1)))),
    case("fetch: sequences", fetch(("d-data", part(2)))),
    case("fetch: inside a batch", fetch(("d-data", part(1, 7)))),
    case("fetch: committed", fetch(("d-data", part()), isolation_level=1)),
    case("fetch: unknown isolation", fetch(("d-data", part()), isolation_level=9)),
    case("fetch: two", fetch(("d-data", part()), ("d-kept", part()))),
    case("fetch: twice", fetch(("d-data", part()), ("d-data", part()))),
    case("fetch: nothing", fetch()),
    case("fetch: one byte of the partition", fetch(("d-data", part(size=1)))),
    case("fetch: no byte of the partition", fetch(("d-data", part(size=0)))),
    case("fetch: less than no byte of the partition", fetch(("d-data", part(size=-1)))),
    case("fetch: one byte of all", fetch(("d-data", part()), ("d-kept", part()), max_bytes=1)),
    case("fetch: no byte of all", fetch(("d-data", part()), max_bytes=0)),
    case("fetch: less than no byte of all", fetch(("d-data", part()), max_bytes=-1)),
    case("fetch: 200 bytes", fetch(("d-data", part(size=200)))),
    case("fetch: 200 bytes of all", fetch(
        ("d-data", part()), ("d-kept", part()), max_bytes=200)),
    case("fetch: too much is asked for", fetch(
        ("d-small", part()), min_bytes=1 << 30, max_wait_ms=10)),
    case("fetch: negative time", fetch(("d-data", part()), max_wait_ms=-1)),
    case("fetch: negative minimum", fetch(("d-data", part()), min_bytes=-1)),
    case("fetch: past the end", fetch(("d-data", part(offset=1_000_000)))),
    case("fetch: before the start", fetch(("d-data", part(offset=-1)))),
    case("fetch: far before the start", fetch(("d-data", part(offset=-(2**63))))),
    case("fetch: an empty one", fetch(("d-never", part()), min_bytes=1, max_wait_ms=10)),
    case("fetch: unknown partition", fetch(("d-data", part(77)))),
    case("fetch: negative partition", fetch(("d-data", part(-1)))),
    case("fetch: unknown topic", fetch(("nobody", part()))),
    case("fetch: bad name", fetch(("a b", part())), until=12),
    case("fetch: unknown id", by_id(STRANGE_ID), since=13),
    case("fetch: id 0", by_id(bytes(16)), since=13),
    case("fetch: the epoch", fetch(("d-data", part(current_leader_epoch=0))), since=9),
    case("fetch: older epoch", fetch(("d-data", part(current_leader_epoch=-2))), since=9),
    case("fetch: newer epoch", fetch(("d-data", part(current_leader_epoch=5))), since=9),
    case("fetch: last fetched epoch", fetch(("d-data", part(last_fetched_epoch=0))), since=12),
    case("fetch: last fetched epoch is newer", fetch(
        ("d-data", part(last_fetched_epoch=5))), since=12),
    case("fetch: last fetched epoch, past the end", fetch(
        ("d-data", part(offset=1_000_000, last_fetched_epoch=0))), since=12),
    case("fetch: as a stranger", fetch(("d-data", part()), replica_id=77), until=14),
    case("fetch: as the leader", fetch(("d-data", part()), replica_id=1), until=14),
    case("fetch: as a debugger", fetch(("d-data", part()), replica_id=-2), until=14),
    case("fetch: as a stranger, by state", fetch(
        ("d-data", part()),
        replica_state=fetching.ReplicaState(replica_id=77, replica_epoch=5)), since=15),
    case("fetch: of another cluster", fetch(("d-data", part()), cluster_id="other"), since=12),
    case("fetch: a rack", fetch(("d-data", part()), rack_id="r1"), since=11),
]  # fmt: skip

SESSIONS: list[Case] = [
    case("session: a new one", fetch(("d-data", part()), session_epoch=0), 12, 12),
    case("session: goes on", fetch(session_id=SESSION, session_epoch=1), 12, 12),
    case("session: another offset", fetch(
        ("d-data", part(offset=3)), session_id=SESSION, session_epoch=2), 12, 12),
    case("session: one more", fetch(
        ("d-kept", part()), session_id=SESSION, session_epoch=3), 12, 12),
    case("session: an unknown one more", fetch(
        ("nobody", part()), session_id=SESSION, session_epoch=4), 12, 12),
    case("session: one less", fetch(
        forget=[("d-data", [0])], session_id=SESSION, session_epoch=5), 12, 12),
    case("session: what is not in it", fetch(
        forget=[("d-data", [0, 77])], session_id=SESSION, session_epoch=6), 12, 12),
    case("session: wrong epoch", fetch(session_id=SESSION, session_epoch=99), 12, 12),
    case("session: negative epoch", fetch(session_id=SESSION, session_epoch=-5), 12, 12),
    case("session: unknown", fetch(session_id=123_456, session_epoch=1), since=7),
    case("session: by ids from names", fetch(session_id=SESSION, session_epoch=7), 13, 13),
    case("session: closed", fetch(session_id=SESSION, session_epoch=-1), 12, 12),
    case("session: after its end", fetch(session_id=SESSION, session_epoch=7), 12, 12),
    case("session: by ids", fetch(
        ("d-data", part()), ("d-kept", part()), session_epoch=0), 18, 18),
    case("session: by ids, goes on", fetch(session_id=SESSION, session_epoch=1), 18, 18),
    case("session: by ids, unknown id", fetch(
        ("nobody", part()), session_id=SESSION, session_epoch=2), 18, 18),
    case("session: by ids, asked again", fetch(session_id=SESSION, session_epoch=3), 18, 18),
    case("session: by ids, forgotten", fetch(
        forget=[("nobody", [0]), ("d-data", [0])], session_id=SESSION, session_epoch=4), 18, 18),
    case("session: to names from ids", fetch(session_id=SESSION, session_epoch=5), 12, 12),
    case("session: id without an epoch", fetch(
        ("d-data", part()), session_id=SESSION, session_epoch=-1), since=7),
    case("session: empty", fetch(session_epoch=0), since=7),
    case("session: of a stranger", fetch(
        ("d-data", part()), replica_id=77, session_epoch=0), since=7, until=14),
]  # fmt: skip


def offsets(
    timestamp: int, name: str = "d-data", index: int = 0, *, epoch: int = -1, replica: int = -1,
    isolation: int = 0, twice: bool = False,
) -> Callable[[int], Any]:  # fmt: skip
    def make(version: int) -> Any:
        more = {"isolation_level": isolation} if version >= 2 else {}
        part = listing.ListOffsetsPartition(
            partition_index=index, current_leader_epoch=epoch, timestamp=timestamp
        )
        return listing.ListOffsetsRequest(
            replica_id=replica,
            topics=[listing.ListOffsetsTopic(name=name, partitions=[part] * (2 if twice else 1))],
            timeout_ms=1000,
            **more,
        )

    return make


OFFSETS: list[Case] = [
    *(case(f"offsets: {timestamp}", offsets(timestamp)) for timestamp in range(-8, 1)),
    *(case(f"offsets: {timestamp} of an empty one", offsets(timestamp, "d-never"))
      for timestamp in range(-6, 1)),
    case("offsets: by time", offsets(NOW_MS)),
    case("offsets: by time, inside", offsets(NOW_MS + 1)),
    case("offsets: by time, the end", offsets(NOW_MS + HOUR_MS)),
    case("offsets: by time, the largest", offsets(2**63 - 1)),
    case("offsets: by time, packed", offsets(NOW_MS + 30, index=1)),
    case("offsets: by time, committed", offsets(NOW_MS, isolation=1)),
    case("offsets: latest, committed", offsets(-1, isolation=1)),
    case("offsets: unknown isolation", offsets(-1, isolation=7)),
    case("offsets: smallest time", offsets(-(2**63))),
    case("offsets: unknown topic", offsets(-1, "nobody")),
    case("offsets: bad name", offsets(-1, "a b")),
    case("offsets: no name", offsets(-1, "")),
    case("offsets: unknown partition", offsets(-1, index=77)),
    case("offsets: negative partition", offsets(-1, index=-1)),
    case("offsets: twice", offsets(-1, twice=True)),
    case("offsets: the epoch", offsets(-1, epoch=0), since=4),
    case("offsets: newer epoch", offsets(-1, epoch=7), since=4),
    case("offsets: negative epoch", offsets(-1, epoch=-3), since=4),
    case("offsets: as a debugger", offsets(-1, replica=-2)),
    case("offsets: as a stranger", offsets(-1, replica=77)),
    case("offsets: as nobody", offsets(-1, replica=-9)),
    case("offsets: nothing", listing.ListOffsetsRequest(replica_id=-1, topics=[])),
]  # fmt: skip


def ends(epoch: int, name: str = "d-data", index: int = 0, *, current: int = -1, replica: int = -2
         ) -> Any:  # fmt: skip
    return epochs.OffsetForLeaderEpochRequest(
        replica_id=replica,
        topics=[
            epochs.OffsetForLeaderTopic(
                topic=name,
                partitions=[
                    epochs.OffsetForLeaderPartition(
                        partition=index, current_leader_epoch=current, leader_epoch=epoch
                    )
                ],
            )
        ],
    )


EPOCHS: list[Case] = [
    *(case(f"epoch end: {epoch}", ends(epoch)) for epoch in (-2, -1, 0, 1, 77, 2**31 - 1)),
    case("epoch end: of an empty one", ends(0, "d-never")),
    case("epoch end: unknown topic", ends(0, "nobody")),
    case("epoch end: bad name", ends(0, "a b")),
    case("epoch end: unknown partition", ends(0, index=77)),
    case("epoch end: the epoch", ends(0, current=0)),
    case("epoch end: newer epoch", ends(0, current=7)),
    case("epoch end: negative epoch", ends(0, current=-5)),
    case("epoch end: as a consumer", ends(0, replica=-1)),
    case("epoch end: as a stranger", ends(0, replica=77)),
    case("epoch end: nothing", epochs.OffsetForLeaderEpochRequest(topics=[])),
]


def known(*parts: tuple[str, int]) -> Any:
    return producers.DescribeProducersRequest(
        topics=[
            producers.TopicRequest(name=name, partition_indexes=[index]) for name, index in parts
        ]
    )


def sizes(*parts: tuple[str, list[int]]) -> Any:
    return dirs.DescribeLogDirsRequest(
        topics=[
            dirs.DescribableLogDirTopic(topic=name, partitions=indexes) for name, indexes in parts
        ]
    )


def move(path: str, *parts: tuple[str, list[int]]) -> Any:
    return moving.AlterReplicaLogDirsRequest(
        dirs=[
            moving.AlterReplicaLogDir(
                path=path,
                topics=[
                    moving.AlterReplicaLogDirTopic(name=name, partitions=indexes)
                    for name, indexes in parts
                ],
            )
        ]
    )


DESCRIPTIONS: list[Case] = [
    case("producers", known(("d-data", 2), ("d-data", 0))),
    case("producers: unknown", known(("nobody", 0), ("d-data", 77), ("d-data", -1))),
    case("producers: bad names", known(("a b", 0), ("", 0), ("n" * 250, 0), ("..", 0))),
    case("producers: of the metadata", known(("__cluster_metadata", 0))),
    case("producers: nothing", known()),
    case("dirs: all", dirs.DescribeLogDirsRequest(topics=None)),
    case("dirs: some", sizes(("d-data", [0, 1]), ("d-never", [0]))),
    case("dirs: unknown", sizes(("nobody", [0]), ("d-data", [77, -1]))),
    case("dirs: the metadata", sizes(("__cluster_metadata", [0]))),
    case("dirs: none", sizes()),
    case("dirs: twice", sizes(("d-data", [0, 0]), ("d-data", [0]))),
    case("move: nowhere", move("/nowhere", ("d-data", [0]))),
    case("move: no path", move("", ("d-data", [0]))),
    case("move: a relative path", move("data", ("d-data", [0]))),
    case("move: unknown, nowhere", move("/nowhere", ("nobody", [0]))),
    case("move: a long name", move("/nowhere", ("n" * 249, [0]))),
    case("move: nothing", moving.AlterReplicaLogDirsRequest(dirs=[])),
]


def cut(*parts: tuple[str, int, int], timeout_ms: int = 1000) -> Any:
    return deleting.DeleteRecordsRequest(
        timeout_ms=timeout_ms,
        topics=[
            deleting.DeleteRecordsTopic(
                name=name,
                partitions=[deleting.DeleteRecordsPartition(partition_index=index, offset=offset)],
            )
            for name, index, offset in parts
        ],
    )


DELETIONS: list[Case] = [
    case("cut", lambda v: cut(("d-data", 0, 3 + v))),
    case("cut: before the start", cut(("d-data", 0, 1))),
    case("cut: past the end", cut(("d-data", 0, 1_000_000))),
    case("cut: offset -2", cut(("d-data", 0, -2))),
    case("cut: all", cut(("d-data", 1, -1))),
    case("cut: an empty one", cut(("d-never", 0, -1), ("d-never", 0, 0))),
    case("cut: compacted", cut(("d-kept", 0, -1))),
    case("cut: compacted, past the end", cut(("d-kept", 0, 1_000_000))),
    case("cut: compacted and deleted", cut(("d-both", 0, -1))),
    case("cut: unknown", cut(("nobody", 0, 0), ("d-data", 77, 0), ("d-data", -1, 0))),
    case("cut: bad name", cut(("a b", 0, 0), ("", 0, 0))),
    case("cut: the metadata", cut(("__cluster_metadata", 0, 0))),
    case("cut: twice", cut(("d-data", 2, 1), ("d-data", 2, 2))),
    case("cut: nothing", cut()),
    case("cut: no time", cut(("d-data", 2, 3), timeout_ms=0)),
    case("cut: negative time", cut(("d-data", 2, 4), timeout_ms=-1)),
    case("fetch: what was cut", fetch(("d-data", part()))),
    case("fetch: inside of what was cut", fetch(("d-data", part(offset=5)))),
    case("offsets: of what was cut", offsets(-2)),
    case("offsets: by time of what was cut", offsets(NOW_MS)),
    case("offsets: largest time of what was cut", offsets(-3, index=1)),
    case("epoch end: of what was cut", ends(0, index=1)),
]

CASES = [*FETCHES, *SESSIONS, *OFFSETS, *EPOCHS, *DESCRIPTIONS, *DELETIONS]
