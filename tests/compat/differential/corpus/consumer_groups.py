"""Consumer groups of the new protocol: what one member after another asks, and everything that is refused.

Only one member asks at a time, and targets keep no distance in what is asked here: nothing depends on who is faster.
"""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case, id_of

from quire.protocol.messages import consumer_group_describe as describing
from quire.protocol.messages import consumer_group_heartbeat as heartbeating
from quire.protocol.messages import delete_groups as removing
from quire.protocol.messages import describe_groups as classic
from quire.protocol.messages import list_groups as listing
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching

TOPIC = "of-groups"
"""Is there, with three partitions."""
GROUP = "consumers"
BY_ID_SINCE = 10


def beat(member_id: str = "m", epoch: int = 0, group: str = GROUP, **more: Any) -> Any:
    """A heartbeat; one that joins says everything."""
    owned: dict[str, list[int]] | None = more.pop("owned", {} if epoch == 0 else None)

    def make(version: int) -> Any:
        said = (
            {"rebalance_timeout_ms": 5_000, "subscribed_topic_names": [TOPIC]} if not epoch else {}
        )
        said |= more
        if version < 1:
            said.pop("subscribed_topic_regex", None)
        return heartbeating.ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=member_id,
            member_epoch=epoch,
            topic_partitions=None
            if owned is None
            else [
                heartbeating.ConsumerGroupHeartbeatRequestTopicPartitions(
                    topic_id=id_of(topic), partitions=partitions
                )
                for topic, partitions in owned.items()
            ],
            **said,
        )

    return make


def commit(member_id: str, epoch: int, partition: int = 0, group: str = GROUP) -> Any:
    def make(version: int) -> Any:
        wanted = committing.OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=1, committed_metadata=""
        )
        topic = committing.OffsetCommitRequestTopic(
            name=TOPIC if version < BY_ID_SINCE else "",
            topic_id=id_of(TOPIC) if version >= BY_ID_SINCE else bytes(16),
            partitions=[wanted],
        )
        return committing.OffsetCommitRequest(
            group_id=group, member_id=member_id, generation_id_or_member_epoch=epoch, topics=[topic]
        )

    return make


def fetch(member_id: str | None, epoch: int) -> Any:
    group = fetching.OffsetFetchRequestGroup(
        group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None
    )
    return fetching.OffsetFetchRequest(groups=[group])


def describe(*groups: str) -> Any:
    return describing.ConsumerGroupDescribeRequest(
        group_ids=list(groups), include_authorized_operations=True
    )


INVALID: list[Case] = [
    case("no group", beat(group="")),
    case("no member", beat(""), since=1),
    case("no member that goes on", beat("", 3)),
    case("no instance", beat(instance_id="")),
    case("no rack", beat(rack_id="")),
    case("no time to rebalance", beat(rebalance_timeout_ms=-1)),
    case("nothing about partitions", beat(owned=None)),
    case("partitions of a newcomer", beat(owned={TOPIC: [0]})),
    case("no subscription", beat(subscribed_topic_names=None)),
    case("away without an instance", beat(epoch=-2)),
    case("an epoch below all", beat(epoch=-3)),
    case("an assignor that is not there", beat(server_assignor="odd")),
    *(
        case(
            f"the pattern {pattern}",
            beat(subscribed_topic_names=None, subscribed_topic_regex=pattern),
            since=1,
        )
        for pattern in ("(a", "(?=a)b", r"(a)\1", "a++", "a{1001}", "[a")
    ),
    case("leaves a group that is not there", beat(epoch=-1, group="none")),
    case("goes on in a group that is not there", beat(epoch=1, group="none")),
]

LIVES: list[Case] = [
    case("joins", beat()),
    case("goes on", beat(epoch=2)),
    case("says what it owns", beat(epoch=2, owned={TOPIC: [0, 1, 2]})),
    case("joins again", beat()),
    case("says everything", beat(
        epoch=2, owned={TOPIC: [0]}, rebalance_timeout_ms=6_000, subscribed_topic_names=[TOPIC])),
    case("a later epoch", beat(epoch=3)),
    case("an earlier epoch", beat(epoch=1, owned={TOPIC: []})),
    case("a stranger", beat("z", 2)),
    case("a stranger leaves", beat("z", -1)),
    case("a strange instance", beat(epoch=2, instance_id="i")),
    case("commits", commit("m", 2), since=2),
    case("commits late", commit("m", 1), since=9),
    case("commits early", commit("m", 3), since=9),
    case("commits as nobody", commit("", -1), since=2),
    case("commits as a stranger", commit("z", 2), since=2),
    case("fetches", fetch("m", 2), since=9, until=9),
    case("fetches late", fetch("m", 1), since=9, until=9),
    case("fetches as a stranger", fetch("z", 2), since=9, until=9),
    case("fetches as nobody", fetch(None, -1), since=9, until=9),
    case("described", describe(GROUP, "none", GROUP)),
    case("described as a classic group", classic.DescribeGroupsRequest(groups=[GROUP])),
    case("listed", listing.ListGroupsRequest(types_filter=["consumer"]), since=5),
    case("listed by its state", listing.ListGroupsRequest(states_filter=["Stable"]), since=4),
    case("not deleted", removing.DeleteGroupsRequest(groups_names=[GROUP])),
]  # fmt: skip

STATIC: list[Case] = [
    case("a static one joins", beat("s", group="static", instance_id="i")),
    case("another has its instance", beat("t", group="static", instance_id="i")),
    case("it goes away", beat("s", -2, group="static", instance_id="i")),
    case("described while it is away", describe("static")),
    case("another takes its place", beat("t", group="static", instance_id="i"), since=1),
    case("the former one goes on", beat("s", 2, group="static", instance_id="i")),
    case("the other leaves", beat("t", -1, group="static", instance_id="i"), since=1),
    case("described when it has left", describe("static")),
]

ENDS: list[Case] = [
    case("leaves", beat(epoch=-1), until=0),
    case("described without members", describe(GROUP)),
    case("commits when nobody is there", commit("", -1), since=2),
    case("deleted", removing.DeleteGroupsRequest(groups_names=[GROUP, "static"])),
    case("described when it is gone", describe(GROUP)),
]

CASES: list[Case] = [*INVALID, *LIVES, *STATIC, *ENDS]
