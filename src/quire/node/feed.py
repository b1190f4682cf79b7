"""What is committed in the metadata log, replayed into images, and handed to those who act on it.

    snapshot + log up to the high watermark -> Replay -> image -> publish, one change after the other

Invariants
  I1  Only what is committed is ever seen here, in the order of the log, nothing twice.
  I2  Images are published one after the other; what came while one was being published is one change.
  I3  The image here is never behind what a publisher was given.
Not here   who reads from where (metadata_log), what publishing does (publish), the controller's own image, which runs
           ahead of this one (controller_host).
See        KIP-630, KIP-631
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

from quire.metadata.delta import Touched
from quire.metadata.image import Image
from quire.metadata.records import Message, decode_value
from quire.metadata.replay import Replay
from quire.metadata.snapshot import image_of
from quire.node.metadata_log import MetadataLog

Publish = Callable[[Image, Touched], Awaitable[None]]


class Feed:
    """See the module."""

    def __init__(self, log: MetadataLog) -> None:
        self._log = log
        self._next_offset = 0
        self._replay = Replay()
        self._touched = Touched()
        self._news = asyncio.Event()
        self._reached = asyncio.Condition()
        self._publishing = asyncio.Lock()
        self.published = Image()
        """The image that was published last."""
        self.last_timestamp = 0
        """Of the last batch replayed."""
        self.bytes_since_snapshot = 0

    @property
    def image(self) -> Image:
        """Everything committed so far."""
        return self._replay.image

    @property
    def in_transaction(self) -> bool:
        return self._replay.in_transaction

    def load(self) -> None:
        """Begin with the newest snapshot. Blocks."""
        newest = self._log.latest_snapshot
        if newest is None:
            return
        snapshot = self._log.snapshots.read(newest)
        messages = [decode_value(value).message for value in snapshot.values]
        image = image_of(messages, offset=newest.end_offset - 1, quorum_epoch=newest.epoch)
        self._replay = Replay(image)
        self._next_offset = newest.end_offset
        self.last_timestamp = snapshot.last_contained_log_timestamp
        self._news.set()

    def on_committed(self, high_watermark: int) -> None:
        """Everything below is safe: take it in (I1)."""
        messages: list[Message] = []
        epoch = last_offset = -1
        for batch in self._log.batches(self._next_offset, high_watermark):
            messages += batch.messages
            epoch, last_offset = batch.epoch, batch.last_offset
            self.last_timestamp = batch.timestamp
            self.bytes_since_snapshot += batch.size
            self._next_offset = batch.last_offset + 1
        self._log.taken(self._next_offset)
        if last_offset < 0:
            return
        touched = self._replay.load(messages, last_offset=last_offset, quorum_epoch=epoch)
        self._touched = merged(self._touched, touched)
        self._news.set()

    async def publish_to(
        self, publish: Publish, *, then: Callable[[], None] = lambda: None
    ) -> None:
        """Hand every image to `publish`, for ever (I2); `then` is called after each."""
        while True:
            await self._news.wait()
            self._news.clear()
            image, touched = self._replay.image, self._touched
            self._touched = Touched()
            async with self._publishing:
                await publish(image, touched)
            self.published = image
            then()
            async with self._reached:
                self._reached.notify_all()

    def at_rest(self) -> asyncio.Lock:
        """While it is held nothing is being published."""
        return self._publishing

    async def until(self, offset: int) -> None:
        """Return once an image at or behind `offset` was published."""
        async with self._reached:
            await self._reached.wait_for(lambda: self.published.offset >= offset)

    async def until_true(self, condition: Callable[[Image], bool]) -> None:
        """Return once a published image is as wanted."""
        async with self._reached:
            await self._reached.wait_for(lambda: condition(self.published))


def merged(first: Touched, then: Touched) -> Touched:
    """What both touched."""
    both: dict[str, Any] = {}
    for one in fields(Touched):
        before, after = getattr(first, one.name), getattr(then, one.name)
        both[one.name] = before or after if isinstance(before, bool) else {**before, **after}
    return Touched(**both)


def everything(image: Image) -> Touched:
    """All there is in an image, as if it had just been made."""
    return Touched(
        features=dict.fromkeys(image.features),
        brokers=dict.fromkeys(image.brokers),
        controllers=dict.fromkeys(image.controllers),
        created_topics={topic.topic_id: topic.name for topic in image.topics.values()},
        partitions={
            (topic.topic_id, index): None for topic, index, _partition in image.partitions()
        },
        configs=dict.fromkeys(image.configs),
        quotas=dict.fromkeys(image.quotas),
        acls=dict.fromkeys(image.acls),
        scram=dict.fromkeys(image.scram),
        tokens=dict.fromkeys(image.tokens),
        producer_ids=True,
    )
