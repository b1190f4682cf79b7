"""node.feed: committed records become images, one after the other, for whoever acts on them."""

from __future__ import annotations

import asyncio

from tests.metadata.golden_log import ONE_NODE, replayed
from tests.node.scene import bring, make_directory, with_world

from quire.metadata.delta import Touched
from quire.metadata.image import Image
from quire.metadata.records import MetadataRecord
from quire.node.feed import Feed, everything, merged
from quire.node.metadata_log import MetadataLog
from quire.node.tasks import Tasks
from quire.node.world import World
from quire.protocol.messages.metadata_records import (
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
)
from quire.storage.settings import LogSettings


def setting(name: str, value: str) -> MetadataRecord:
    return MetadataRecord(
        ConfigRecord(resource_type=4, resource_name="", name=name, value=value), 0
    )


def fresh(world: World) -> tuple[MetadataLog, Feed]:
    make_directory(world.disk, "/logs")
    log = MetadataLog.open(world, "/logs", LogSettings())
    return log, Feed(log)


def test_only_what_is_committed_is_seen_and_once() -> None:
    async def main(world: World) -> None:
        log, feed = fresh(world)
        log.append([setting("a", "1")], epoch=1)
        log.append([setting("a", "2")], epoch=1)
        feed.on_committed(1)
        assert feed.image.config(4, "") == {"a": "1"}
        feed.on_committed(1)
        feed.on_committed(2)
        assert feed.image.config(4, "") == {"a": "2"}
        assert (feed.image.offset, feed.image.quorum_epoch) == (1, 1)
        assert feed.bytes_since_snapshot == sum(one.size for one in log.log.segments)

    with_world(main)


def test_half_a_transaction_changes_nothing() -> None:
    async def main(world: World) -> None:
        log, feed = fresh(world)
        log.append([MetadataRecord(BeginTransactionRecord(), 0), setting("a", "1")], epoch=1)
        feed.on_committed(2)
        assert feed.in_transaction
        assert feed.image.config(4, "") == {}
        log.append([MetadataRecord(EndTransactionRecord(), 0)], epoch=1)
        feed.on_committed(3)
        assert not feed.in_transaction
        assert feed.image.config(4, "") == {"a": "1"}

    with_world(main)


def test_changes_that_come_during_a_publication_are_one_and_waiters_learn_of_theirs() -> None:
    async def main(world: World) -> None:
        log, feed = fresh(world)
        published: list[tuple[Image, Touched]] = []

        async def publish(image: Image, touched: Touched) -> None:
            await asyncio.sleep(5)
            published.append((image, touched))

        tasks = Tasks()
        tasks.start(feed.publish_to(publish), "publish")
        waits: list[str] = []

        async def wait() -> None:
            await feed.until(2)
            waits.append("offset")
            await feed.until_true(lambda image: "d" in image.config(4, ""))
            waits.append("condition")

        tasks.start(wait(), "wait")
        log.append([setting("a", "1")], epoch=1)
        feed.on_committed(1)
        await asyncio.sleep(1)
        log.append([setting("b", "2")], epoch=1)
        feed.on_committed(2)
        log.append([setting("c", "3")], epoch=1)
        feed.on_committed(3)
        await asyncio.sleep(5)
        assert (len(published), waits) == (1, [])
        await asyncio.sleep(5)
        assert [image.offset for image, _ in published] == [0, 2]
        assert waits == ["offset"]
        log.append([setting("d", "4")], epoch=1)
        feed.on_committed(4)
        await asyncio.sleep(10)
        assert waits == ["offset", "condition"]
        assert feed.published is feed.image
        await tasks.cancel()
        assert tasks.failure is None

    with_world(main)


def test_a_feed_begins_with_the_newest_snapshot() -> None:
    async def main(world: World) -> None:
        bring(world.disk, ONE_NODE, "/logs/__cluster_metadata-0")
        log, feed = fresh(world)
        feed.load()
        assert feed.image.offset == 1593
        feed.on_committed(log.end_offset)
        whole = replayed(ONE_NODE / "00000000000000000000.log").image
        assert feed.image.topics == whole.topics
        assert feed.image.brokers == whole.brokers
        assert feed.image.configs == whole.configs
        assert feed.image.offset == log.end_offset - 1

    with_world(main)


def test_everything_of_an_image_and_what_two_changes_touched() -> None:
    image = replayed(ONE_NODE / "00000000000000000000.log").image
    touched = everything(image)
    assert touched.created_topics == image.topic_names
    assert len(touched.partitions) == len(list(image.partitions()))
    assert touched.producer_ids
    first = Touched(brokers={1: None}, producer_ids=True)
    then = Touched(brokers={2: None}, configs=touched.configs)
    both = merged(first, then)
    assert (both.brokers, both.producer_ids) == ({1: None, 2: None}, True)
    assert both.configs == touched.configs
