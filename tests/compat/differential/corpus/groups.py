"""Coordinators looked for; offsets committed, told and deleted; groups described, listed and deleted; and everything
that a classic group refuses. What needs two members at a time is not here: it depends on who is faster.
"""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case, id_of

from quire.protocol.messages import delete_groups as removing
from quire.protocol.messages import describe_groups as describing
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import heartbeat as beating
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import leave_group as leaving
from quire.protocol.messages import list_groups as listing
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_delete as deleting
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import sync_group as syncing
from quire.protocol.messages import txn_offset_commit as transacting

TOPIC = "of-groups"
"""Is there, with three partitions."""
STRANGE_ID = bytes(range(16))


def find(*keys: str, kind: int = 0) -> Any:
    def make(version: int) -> Any:
        if version >= 4:
            return finding.FindCoordinatorRequest(
                key_type=kind if version >= 1 else 0, coordinator_keys=list(keys)
            )
        return finding.FindCoordinatorRequest(key_type=kind if version >= 1 else 0, key=keys[0])

    return make


def commit(group: str, *offsets: tuple[str, int, int], note: str | None = "", **more: Any) -> Any:
    """Topic, partition and offset of each; from version 10 on topics are said by id."""

    def make(version: int) -> Any:
        fits = {key: value for key, value in more.items() if key != "group_instance_id"}
        if version >= 7:
            fits = more
        return committing.OffsetCommitRequest(
            group_id=group,
            member_id=fits.pop("member_id", "") if "member_id" in fits else "",
            topics=[
                committing.OffsetCommitRequestTopic(
                    name=topic if version < 10 else "",
                    topic_id=id_of(topic) if version >= 10 else bytes(16),
                    partitions=[
                        committing.OffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=note,
                        )
                    ],
                )
                for topic, partition, offset in offsets
            ],
            **{key: value for key, value in fits.items() if key != "member_id"},
        )

    return make


def fetch(*groups: str, topics: list[tuple[str, list[int]]] | None, stable: bool = False) -> Any:
    def make(version: int) -> Any:
        if version < 8:
            return fetching.OffsetFetchRequest(
                group_id=groups[0],
                topics=None
                if topics is None
                else [
                    fetching.OffsetFetchRequestTopic(name=name, partition_indexes=partitions)
                    for name, partitions in topics
                ],
                require_stable=stable and version >= 7,
            )
        return fetching.OffsetFetchRequest(
            groups=[
                fetching.OffsetFetchRequestGroup(
                    group_id=group,
                    topics=None
                    if topics is None
                    else [
                        fetching.OffsetFetchRequestTopics(
                            name=name if version < 10 else "",
                            topic_id=id_of(name) if version >= 10 else bytes(16),
                            partition_indexes=partitions,
                        )
                        for name, partitions in topics
                    ],
                )
                for group in groups
            ],
            require_stable=stable,
        )

    return make


def delete_offsets(group: str, *topics: tuple[str, int]) -> Any:
    return deleting.OffsetDeleteRequest(
        group_id=group,
        topics=[
            deleting.OffsetDeleteRequestTopic(
                name=name,
                partitions=[deleting.OffsetDeleteRequestPartition(partition_index=partition)],
            )
            for name, partition in topics
        ],
    )


def join(group: str, member_id: str = "", **more: Any) -> Any:
    protocols = more.pop("protocols", [("range", b"")])
    return joining.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=more.pop("session_timeout_ms", 10_000),
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type=more.pop("protocol_type", "consumer"),
        protocols=[
            joining.JoinGroupRequestProtocol(name=name, metadata=metadata)
            for name, metadata in protocols
        ],
        **more,
    )


def sync(group: str, **more: Any) -> Any:
    return syncing.SyncGroupRequest(
        group_id=group, generation_id=1, member_id="m", assignments=[], **more
    )


def leave(group: str, *members: tuple[str, str | None]) -> Any:
    def make(version: int) -> Any:
        if version < 3:
            return leaving.LeaveGroupRequest(group_id=group, member_id=members[0][0])
        return leaving.LeaveGroupRequest(
            group_id=group,
            members=[
                leaving.MemberIdentity(member_id=member_id, group_instance_id=instance)
                for member_id, instance in members
            ],
        )

    return make


def transact(group: str, *topics: str, generation: int = -1, note: str = "") -> Any:
    def make(version: int) -> Any:
        return transacting.TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=group,
            producer_id=7,
            producer_epoch=0,
            generation_id=generation if version >= 3 else -1,
            topics=[
                transacting.TxnOffsetCommitRequestTopic(
                    name=name,
                    partitions=[
                        transacting.TxnOffsetCommitRequestPartition(
                            partition_index=0, committed_offset=5, committed_metadata=note
                        )
                    ],
                )
                for name in topics
            ],
        )

    return make


COORDINATORS: list[Case] = [
    case("find: a group", find("g")),
    case("find: a group without a name", find("")),
    case("find: several groups, one twice", find("a", "b", "a"), since=4),
    case("find: nothing", find(), since=4),
    case("find: a strange kind", find("g", kind=9), since=1),
    case("find: a share that is none", find("g", kind=2), since=1),
    case("find: a share without an id", find("g::0", kind=2), since=6),
    case(
        "find: a share with a strange partition",
        find("g:AAAAAAAAAAAAAAAAAAAAAA:x", kind=2),
        since=6,
    ),
]

OFFSETS: list[Case] = [
    case("commit: by nobody", commit("plain", (TOPIC, 0, 10), (TOPIC, 2, 12))),
    case("commit: with a note", commit("plain", (TOPIC, 1, 11), note="a note")),
    case("commit: without a note", commit("plain", (TOPIC, 1, 11), note=None)),
    case("commit: a long note", commit("plain", (TOPIC, 0, 1), note="x" * 4097)),
    case("commit: the longest note", commit("plain", (TOPIC, 0, 1), note="x" * 4096)),
    case("commit: a partition that is not there", commit("plain", (TOPIC, 9, 1))),
    case("commit: a topic that is not there", commit("plain", ("nowhere", 0, 1), (TOPIC, 0, 1))),
    case("commit: nothing but a topic that is not there", commit("plain", ("nowhere", 0, 1))),
    case("commit: nothing", commit("plain")),
    case("commit: below zero", commit("below", (TOPIC, 0, -5))),
    case("commit: a group without a name", commit("", (TOPIC, 0, 1))),
    case(
        "commit: a generation of no group",
        commit("none", (TOPIC, 0, 1), generation_id_or_member_epoch=3, member_id="m"),
    ),
    case(
        "commit: a generation of a group without members",
        commit("plain", (TOPIC, 0, 1), generation_id_or_member_epoch=3, member_id="m"),
    ),
    case("commit: a member without a generation", commit("plain", (TOPIC, 0, 1), member_id="m")),
    case("fetch: what was committed", fetch("plain", topics=[(TOPIC, [0, 1, 2, 7])])),
    case("fetch: everything", fetch("plain", topics=None), since=2),
    case("fetch: stable", fetch("plain", topics=[(TOPIC, [0])], stable=True), since=7),
    case("fetch: no topics", fetch("plain", topics=[])),
    case("fetch: no partitions", fetch("plain", topics=[(TOPIC, [])])),
    case(
        "fetch: a topic that is not there", fetch("plain", topics=[("nowhere", [0]), (TOPIC, [0])])
    ),
    case("fetch: a group that is not there", fetch("none", topics=[(TOPIC, [0])])),
    case("fetch: everything of a group that is not there", fetch("none", topics=None), since=2),
    case("fetch: a group without a name", fetch("", topics=[(TOPIC, [0])])),
    case("fetch: several groups", fetch("plain", "none", "below", topics=None), since=8),
    case("fetch: no groups", fetch(topics=None), since=8),
    case("transact: a topic that is not there", transact("in-tx", "nowhere")),
    case("transact: nothing", transact("in-tx")),
    case("delete offsets", delete_offsets("plain", (TOPIC, 0))),
    case(
        "delete offsets: again, and others",
        delete_offsets("plain", (TOPIC, 0), (TOPIC, 9), ("nowhere", 0)),
    ),
    case("delete offsets: nothing", delete_offsets("plain")),
    case("delete offsets: no such group", delete_offsets("none", (TOPIC, 0))),
    case(
        "delete offsets: a group without a name", delete_offsets("nameless-is-not-it", (TOPIC, 0))
    ),
]

MEMBERS: list[Case] = [
    case("join: no group", join("")),
    case("join: a session that is too short", join("j", session_timeout_ms=5_999)),
    case("join: a session that is too long", join("j", session_timeout_ms=1_800_001)),
    case("join: an id that nobody gave", join("j-none", "somebody")),
    case("join: nothing to speak", join("j-mute", protocols=[])),
    case("join: no type", join("j-type", protocol_type="")),
    case(
        "join: by an instance with a strange id",
        join("j-inst", "somebody", group_instance_id="i"),
        since=5,
    ),
    case(
        "heartbeat: no such group",
        beating.HeartbeatRequest(group_id="h-none", generation_id=1, member_id="m"),
    ),
    case(
        "heartbeat: a group without members",
        beating.HeartbeatRequest(group_id="plain", generation_id=1, member_id="m"),
    ),
    case(
        "heartbeat: no name", beating.HeartbeatRequest(group_id="", generation_id=1, member_id="m")
    ),
    case(
        "heartbeat: an instance",
        beating.HeartbeatRequest(
            group_id="plain", generation_id=1, member_id="m", group_instance_id="i"
        ),
        since=3,
    ),
    case(
        "sync: no such group",
        lambda v: sync(
            "s-none", **({"protocol_type": "consumer", "protocol_name": "range"} if v >= 5 else {})
        ),
    ),
    case(
        "sync: a group without members",
        lambda v: sync(
            "plain", **({"protocol_type": "consumer", "protocol_name": "range"} if v >= 5 else {})
        ),
    ),
    case(
        "sync: no name",
        lambda v: sync(
            "", **({"protocol_type": "consumer", "protocol_name": "range"} if v >= 5 else {})
        ),
    ),
    case("sync: without protocols", sync("plain")),
    case("leave: no such group", leave("l-none", ("m", None))),
    case(
        "leave: a group without members",
        leave("plain", ("m", None), ("", "i"), ("m", "i"), ("", None)),
    ),
    case("leave: nobody", leave("plain"), since=3),
    case("leave: no name", leave("", ("m", None))),
]

ADMINISTRATION: list[Case] = [
    case(
        "describe: groups",
        describing.DescribeGroupsRequest(groups=["plain", "none", "j-mute", "plain"]),
    ),
    case(
        "describe: permitted",
        describing.DescribeGroupsRequest(
            groups=["plain", "none"], include_authorized_operations=True
        ),
        since=3,
    ),
    case("describe: no name", describing.DescribeGroupsRequest(groups=[""])),
    case("describe: nothing", describing.DescribeGroupsRequest(groups=[])),
    case("list: all", listing.ListGroupsRequest()),
    case("list: empty ones", listing.ListGroupsRequest(states_filter=["empty"]), since=4),
    case("list: in a strange state", listing.ListGroupsRequest(states_filter=["asleep"]), since=4),
    case("list: classic ones", listing.ListGroupsRequest(types_filter=["Classic"]), since=5),
    case("list: of a strange kind", listing.ListGroupsRequest(types_filter=["odd"]), since=5),
    case("list: share groups", listing.ListGroupsRequest(types_filter=["share"]), since=5),
    case("delete", lambda v: removing.DeleteGroupsRequest(groups_names=["plain", "none", "below"])),
    case("delete: no name", removing.DeleteGroupsRequest(groups_names=["none-at-all"])),
    case("delete: nothing", removing.DeleteGroupsRequest(groups_names=[])),
    case(
        "delete: twice in one request",
        removing.DeleteGroupsRequest(groups_names=["j-mute", "j-mute"]),
    ),
    case("describe: deleted", describing.DescribeGroupsRequest(groups=["plain"])),
    case("fetch: deleted", fetch("plain", topics=[(TOPIC, [0])])),
    case("list: what is left", listing.ListGroupsRequest()),
]

CASES: list[Case] = [*COORDINATORS, *OFFSETS, *MEMBERS, *ADMINISTRATION]
