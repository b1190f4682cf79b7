"""A world with topics, and consumers that speak the new protocol as well as a client does.

world = ConsumerWorld(orders=4)
a = world.consumer("a", "orders")           it has joined
a.beat()                                     it says what it owns, and takes what it is given
world.settle(a, b)                           everybody beats until nothing changes any more
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.groups.world import World, subscription

from quire.errors import ErrorCode
from quire.groups.consumer_describing import DescribeConsumerGroup
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_values import AWAY, LEAVING
from quire.metadata.image import BROKER, EMPTY, GROUP, ConfigResource, Image, Partition, Topic
from quire.protocol.messages import consumer_group_heartbeat as heartbeating

VERSION = 1
HEARTBEAT_MS = 5_000
REBALANCE_MS = 20_000
LOST = (
    ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.FENCED_INSTANCE_ID,
)  # fmt: skip
"""The member is none any more, and begins anew."""
Owned = dict[bytes, tuple[int, ...]]


def topic_id(name: str) -> bytes:
    return name.encode().rjust(16, b".")


def image_of(offset: int = 0, **counts: int) -> Image:
    """A cluster with these topics."""
    partition = Partition((1,), (1,), 1)
    topics = {
        name: Topic(name, topic_id(name), dict.fromkeys(range(count), partition))
        for name, count in counts.items()
    }
    names = {topic.topic_id: name for name, topic in topics.items()}
    return replace(EMPTY, offset=offset, topics=topics, topic_names=names)


class ConsumerWorld(World):
    """See the module."""

    def __init__(self, settings: dict[str, Any] | None = None, **counts: int) -> None:
        super().__init__(**(settings or {}))
        self.counts = counts
        self.image = image_of(**counts)

    def change_topics(self, **counts: int) -> None:
        """The cluster has other topics now; 0 partitions are no topic."""
        self.counts = {name: count for name, count in (self.counts | counts).items() if count}
        gone = tuple(name for name in self.image.topics if name not in self.counts)
        configs = self.image.configs
        image = image_of(self.image.offset + 1, **self.counts)
        self.image = replace(image, configs=configs)
        self.take(self.machine.on_image(self.moment(), gone))

    def set_group(self, group_id: str = "g", **settings: int) -> None:
        """Settings of a group of its own."""
        texts = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.image = replace(self.image, configs={ConfigResource(GROUP, group_id): texts})

    def set_cluster(self, **settings: int) -> None:
        """Settings of all brokers."""
        texts = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.image = replace(self.image, configs={ConfigResource(BROKER, ""): texts})

    def consumers(self, group_id: str = "g") -> ConsumerGroup:
        found = self.machine.find(group_id)
        assert isinstance(found, ConsumerGroup)
        return found

    def beat(self, member_id: str, epoch: int, **how: Any) -> Any:
        """The answer to one heartbeat; `topics` and `owned` as the request has them."""
        owned: Owned | None = how.pop("owned", None)
        request = heartbeating.ConsumerGroupHeartbeatRequest(
            group_id=how.pop("group_id", "g"),
            member_id=member_id,
            member_epoch=epoch,
            instance_id=how.pop("instance", None),
            subscribed_topic_names=how.pop("topics", None),
            subscribed_topic_regex=how.pop("pattern", None),
            server_assignor=how.pop("assignor", None),
            rebalance_timeout_ms=how.pop("rebalance_ms", -1),
            topic_partitions=None
            if owned is None
            else [
                heartbeating.ConsumerGroupHeartbeatRequestTopicPartitions(
                    topic_id=one, partitions=list(partitions)
                )
                for one, partitions in owned.items()
            ],
        )
        return self.answer(request, how.pop("version", VERSION), **how)

    def refused(self, member_id: str, epoch: int, **how: Any) -> ErrorCode:
        answer = self.beat(member_id, epoch, **how)
        return ErrorCode(answer.error_code)

    def join_new(self, member_id: str, *topics: str, **how: Any) -> Any:
        how = {"rebalance_ms": REBALANCE_MS, "owned": {}, "topics": list(topics)} | how
        return self.beat(member_id, 0, **how)

    def consumer(self, member_id: str, *topics: str, **how: Any) -> Consumer:
        """A new member that has joined."""
        one = Consumer(self, member_id, topics, **how)
        one.join()
        assert one.error is ErrorCode.NONE, one.error
        return one

    def settle(self, *consumers: Consumer, rounds: int = 12) -> None:
        """Everybody beats, until everybody has what it shall have."""
        for _ in range(rounds):
            self.pass_ms(HEARTBEAT_MS)
            for one in consumers:
                one.beat()
        for one in consumers:
            group = self.consumers(one.group_id)
            assert group.stored.state.value == "Stable"
            assert one.owned == group.stored.target(one.member_id)

    def described(self, group_id: str = "g") -> Any:
        return self.answer(DescribeConsumerGroup(group_id), VERSION)


class Consumer:
    """A client: it takes what it is given, and gives back at its next heartbeat what it is not given any more."""

    def __init__(
        self, world: ConsumerWorld, member_id: str, reads: tuple[str, ...], **how: Any
    ) -> None:
        self.world = world
        self.member_id = member_id
        self.topics = reads
        self.group_id: str = how.pop("group_id", "g")
        self.instance: str | None = how.pop("instance", None)
        self.how = how
        self.epoch = 0
        self.owned: Owned = {}
        self.error = ErrorCode.NONE

    def join(self) -> None:
        self.epoch, self.owned = 0, {}
        how = {"rebalance_ms": REBALANCE_MS, "topics": list(self.topics)} | self.how
        self._ask(owned={}, **how)

    def beat(self, **how: Any) -> None:
        """Say what is owned, and take what comes; who is fenced begins anew."""
        if self.epoch <= 0:
            self.join()
            return
        self._ask(owned=self.owned, **how)
        if self.error in LOST:
            self.epoch, self.owned = 0, {}

    def subscribe(self, *topics: str) -> None:
        self.topics = topics
        self.beat(topics=list(topics))

    def leave(self) -> None:
        self._ask(LEAVING)
        self.epoch, self.owned = 0, {}

    def go_away(self) -> None:
        self._ask(AWAY)
        self.epoch, self.owned = 0, {}

    def _ask(self, epoch: int | None = None, **how: Any) -> None:
        answer = self.world.beat(
            self.member_id,
            self.epoch if epoch is None else epoch,
            group_id=self.group_id,
            instance=self.instance,
            **how,
        )
        self.error = ErrorCode(answer.error_code)
        if self.error is ErrorCode.NONE:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = {
                    one.topic_id: tuple(one.partitions)
                    for one in answer.assignment.topic_partitions
                }


def classic_subscription(*topics: str) -> dict[str, bytes]:
    """What a classic consumer says in the one protocol that it speaks."""
    return {"range": subscription(*topics)}
