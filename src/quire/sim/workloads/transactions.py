"""Producers take inputs in and write in transactions while the node is struck: all or nothing, once, and in order.

Each producer has a source, a sequence of numbers whose committed offset is its position. A transaction takes some of
them, writes values to several partitions, commits the offset with it, and commits or aborts. Incarnations of a producer
sleep longer than their transactions last, or are given up in the middle while another takes over their name; those go
on later as if nothing had been. One producer may be given up for ever, so that only time ends its transaction. Each
partition is followed by a reader of committed data and by one of everything.

In half of the worlds answers wait for the disk, and power may be lost; in the others it is not.

Two phases: faults, then everything is healed and must converge: every producer commits its share, everything is decided
everywhere, what the logs hold is read once more, and again after a clean restart.

Not here   the protocol of a producer (transacting), the laws (sim.atomicity).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.clients.offsets import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    offsets_at,
)
from quire.clients.reader import Reader
from quire.errors import QuireError
from quire.sim.atomicity import (
    Atomicity,
    Attempt,
    Ending,
    Fence,
    Following,
    Holding,
    Read,
    Written,
    value_of,
)
from quire.sim.entropy import SeededEntropy
from quire.sim.history import Place
from quire.sim.laws import BrokenLawError
from quire.sim.nemesis import WEIGHTS
from quire.sim.workloads.membership import committed_offsets
from quire.sim.workloads.transacting import StartOverError, TransactionalProducer
from quire.sim.workloads.work import (
    DURABLE,
    FAULTS_WITHOUT_LOSS,
    PASSING,
    PAUSE_SECONDS,
    Line,
    World,
    create_topic,
)

GROUP = "transforms"
SOURCE = "source"
DECIDED_SECONDS = 90.0
"""How long it may take until everything is decided once all is healed: longer than any transaction lasts."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the seed decides before anything runs."""

    topics: dict[str, int]
    producers: int
    transactions: int
    """As many each producer commits at least."""
    is_durable: bool
    has_deserter: bool
    """The last producer is given up for ever; then clocks do not jump, since by them its time runs out."""
    log_partitions: int


def plan(entropy: SeededEntropy) -> Plan:
    """Draw a plan."""
    topics = {f"topic-{number}": 1 + entropy.below(2) for number in range(1 + entropy.below(3))}
    return Plan(
        topics=topics,
        producers=2 + entropy.below(3),
        transactions=8 + entropy.below(8),
        is_durable=entropy.one_in(2),
        has_deserter=entropy.one_in(3),
        log_partitions=1 + entropy.below(3),
    )


class TransactionsWorkload:
    """See the module."""

    def __init__(self, world: World, entropy: SeededEntropy) -> None:
        self._world = world
        self._entropy = entropy
        self.plan = plan(entropy.stream("plan"))
        self.history = Atomicity()
        self.places = [Place(t, p) for t, count in self.plan.topics.items() for p in range(count)]
        self.topic_ids: dict[str, bytes] = {}
        self.is_calm = False
        self._is_over = False

    def settings(self) -> dict[str, str]:
        return {
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": str(self.plan.log_partitions),
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": str(self.plan.log_partitions),
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
            **(DURABLE if self.plan.is_durable else {}),
        }

    def faults(self) -> dict[str, int]:
        weights = dict(WEIGHTS if self.plan.is_durable else FAULTS_WITHOUT_LOSS)
        if self.plan.has_deserter:
            del weights["jump"]
        return weights

    def judge(self) -> None:
        self.history.judge()

    def acknowledged(self) -> int:
        return len([one for one in self.history.attempts if one.ending is Ending.COMMITTED])

    async def run(self, faults: asyncio.Task[None]) -> None:
        await create_topic(self._world, SOURCE, self.plan.producers)
        for topic, partitions in self.plan.topics.items():
            await create_topic(self._world, topic, partitions)
        await self._learn_ids()
        transforms = [
            Transform(number, self, self._world, self._entropy.stream(f"producer {number}"))
            for number in range(self.plan.producers)
        ]
        working = [asyncio.ensure_future(one.run()) for one in transforms]
        following = [
            asyncio.ensure_future(self._follow(place, isolation))
            for place in self.places
            for isolation in (READ_UNCOMMITTED, READ_COMMITTED)
        ]
        await faults
        self.is_calm = True
        await asyncio.gather(*working)
        await self._until_decided()
        self._is_over = True
        await asyncio.gather(*following)
        await self._look_once_more(transforms)

    # --- clients ------------------------------------------------------------------------------

    async def _learn_ids(self) -> None:
        while len(self.topic_ids) < len(self.plan.topics):
            try:
                async with self._world.cluster("admin") as cluster:
                    for topic in self.plan.topics:
                        self.topic_ids[topic] = (await cluster.topic(topic)).topic_id
            except PASSING:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _follow(self, place: Place, isolation: int) -> None:
        following = Following(isolation == READ_COMMITTED)
        self.history.following[place, following.is_committed] = following
        while True:
            is_last = self._is_over
            try:
                await self._follow_once(place, isolation, following)
            except AnswerError as refused:
                if not refused.code.retriable:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
            except PASSING:
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                if is_last:
                    return

    async def _follow_once(self, place: Place, isolation: int, following: Following) -> None:
        async with self._world.cluster("reader") as cluster:
            topic = await cluster.topic(place.topic)
            reader = Reader(cluster, topic, isolation=isolation, max_bytes=4096)
            while True:
                is_over = self._is_over
                fetched = await reader.fetch({place.partition: following.position}, max_wait_ms=300)
                now = self._world.now()
                for one in fetched:
                    following.reads += [
                        Read(record.offset, (record.value or b"").decode(), now)
                        for record in one.records
                    ]
                    following.position = one.next_offset
                if is_over and fetched and following.position >= fetched[0].high_watermark:
                    return

    # --- the end ------------------------------------------------------------------------------

    async def _until_decided(self) -> None:
        """Give what was decided the time to be carried out; whether it was is for the laws (T9)."""
        deadline, found = self._world.now() + DECIDED_SECONDS, ""
        while self._world.now() < deadline:
            try:
                bounds = await self._bounds()
            except PASSING as error:
                found = str(error)
            else:
                if all(stable == high for stable, high in bounds.values()):
                    return
                found = str(bounds)
            await asyncio.sleep(1.0)
        raise BrokenLawError(f"T9 something stays undecided: {found}")

    async def _bounds(self) -> dict[Place, tuple[int, int]]:
        """Each partition's last stable offset and high watermark."""
        found: dict[Place, tuple[int, int]] = {}
        async with self._world.cluster("auditor") as cluster:
            for place in self.places:
                topic = await cluster.topic(place.topic)
                wanted = {place.partition: LATEST}
                stable = await offsets_at(cluster, topic, wanted, isolation=READ_COMMITTED)
                high = await offsets_at(cluster, topic, wanted)
                found[place] = (stable[place.partition], high[place.partition])
        return found

    async def _look_once_more(self, transforms: list[Transform]) -> None:
        first = await self._everything(transforms)
        await self._world.life.restart_cleanly()
        second = await self._everything(transforms)
        if first != second:
            raise QuireError("a clean restart changed what is committed")

    async def _everything(
        self, transforms: list[Transform]
    ) -> tuple[dict[Place, Holding], dict[str, int]]:
        while True:
            try:
                bounds = await self._bounds()
                holding = {
                    place: await self._holding(place, bounds[place]) for place in self.places
                }
            except PASSING:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            break
        positions = {one.name: await one.position() for one in transforms}
        self.history.holding, self.history.positions = holding, positions
        return holding, positions

    async def _holding(self, place: Place, bounds: tuple[int, int]) -> Holding:
        stable, high = bounds
        async with self._world.cluster("auditor") as cluster:
            return Holding(
                everything=await self._records(cluster, place, READ_UNCOMMITTED, high),
                committed=await self._records(cluster, place, READ_COMMITTED, stable),
                high_watermark=high,
                last_stable_offset=stable,
            )

    async def _records(
        self, cluster: Cluster, place: Place, isolation: int, end: int
    ) -> list[tuple[int, str]]:
        topic = await cluster.topic(place.topic)
        first = await offsets_at(cluster, topic, {place.partition: EARLIEST})
        reader = Reader(cluster, topic, isolation=isolation)
        position = first[place.partition]
        found: list[tuple[int, str]] = []
        while position < end:
            for one in await reader.fetch({place.partition: position}):
                found += [(r.offset, (r.value or b"").decode()) for r in one.records]
                position = one.next_offset
        return found


class Transform:
    """One producer through all its incarnations."""

    def __init__(
        self, number: int, work: TransactionsWorkload, world: World, entropy: SeededEntropy
    ) -> None:
        self.name = f"producer-{number}"
        self._source = Place(SOURCE, number)
        self._work = work
        self._world = world
        self._entropy = entropy
        self.deserts = work.plan.has_deserter and number == work.plan.producers - 1
        self._line = Line(world, f"{self.name}-offsets", GROUP, 0)
        self._incarnations = 0
        self._attempts = 0
        self._committed = 0
        self._ghosts: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Commit the producer's share, in as many incarnations as it takes."""
        while not self._is_done():
            self._incarnations += 1
            one = Incarnation(self, self._incarnations, self._work, self._world)
            living = asyncio.ensure_future(one.run(self._entropy.stream(str(self._incarnations))))
            given_up = asyncio.ensure_future(one.is_given_up.wait())
            await asyncio.wait({living, given_up}, return_when=asyncio.FIRST_COMPLETED)
            given_up.cancel()
            if living.done():
                living.result()
            else:
                if self.deserts:
                    self._world.say(self.name, "is given up for ever")
                    living.cancel()
                    break
                self._ghosts.append(living)
        await asyncio.gather(*self._ghosts)
        self._line.hang_up()

    def _is_done(self) -> bool:
        return self._work.is_calm and self._committed >= self._work.plan.transactions

    def is_busy(self) -> bool:
        """Whether an incarnation is to begin another transaction."""
        return not self._is_done()

    def attempt(self, incarnation: int, position: int, count: int) -> Attempt:
        """A new one, noted."""
        self._attempts += 1
        name = f"{self.name}.{self._attempts}"
        made = Attempt(name, self.name, incarnation, position, position + count)
        self._work.history.attempts.append(made)
        return made

    def count_commit(self) -> None:
        self._committed += 1

    async def position(self) -> int:
        """The first input that no committed transaction took."""
        while True:
            found = await committed_offsets(self._world, self._line, GROUP, (self._source,))
            if found is not None:
                return max(0, found.offsets[self._source])
            await asyncio.sleep(PAUSE_SECONDS)

    @property
    def source(self) -> Place:
        return self._source

    @property
    def timeout_ms(self) -> int:
        return 3000 + self._entropy.stream("timeout").below(9000)

    @property
    def adds_partitions(self) -> bool:
        """It speaks as clients before KIP-890 do."""
        return self._entropy.stream("speech").one_in(2)


class Incarnation:
    """One life of a producer: from its beginning to an error, or until it is given up."""

    def __init__(
        self, transform: Transform, number: int, work: TransactionsWorkload, world: World
    ) -> None:
        self._transform = transform
        self._number = number
        self._work = work
        self._world = world
        self._producer = TransactionalProducer(
            transform.name,
            world,
            work.topic_ids,
            timeout_ms=transform.timeout_ms,
            adds_partitions=transform.adds_partitions,
        )
        self.is_given_up = asyncio.Event()

    async def run(self, entropy: SeededEntropy) -> None:
        """Transaction after transaction."""
        try:
            await self._producer.begin()
            self._work.history.fences.append(
                Fence(self._transform.name, self._number, self._world.now())
            )
            position = await self._transform.position()
            while self._transform.is_busy() and not self.is_given_up.is_set():
                attempt = self._transform.attempt(self._number, position, 1 + entropy.below(4))
                if await self._transact(attempt, entropy):
                    position = attempt.end_input
                await asyncio.sleep(entropy.below(400) / 1000)
        except StartOverError:
            await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._producer.hang_up()

    async def _transact(self, attempt: Attempt, entropy: SeededEntropy) -> bool:
        """Whether it was committed; StartOverError when this producer is at its end."""
        places = [
            self._work.places[entropy.below(len(self._work.places))]
            for _ in range(1 + entropy.below(4))
        ]
        committed = not entropy.one_in(4)
        try:
            for place in places:
                await self._doze(entropy)
                await self._write(attempt, place, 1 + entropy.below(3))
            await self._doze(entropy)
            await self._producer.commit_offset(GROUP, self._transform.source, attempt.end_input)
            await self._doze(entropy)
            if committed:
                attempt.commit_asked = self._world.now()
            await self._producer.end(committed=committed)
        except StartOverError:
            may_be_committed = attempt.commit_asked is not None and self._producer.was_asked_again
            attempt.ending = Ending.UNKNOWN if may_be_committed else Ending.ABORTED
            raise
        attempt.ending = Ending.COMMITTED if committed else Ending.ABORTED
        if committed:
            self._transform.count_commit()
        return committed

    async def _write(self, attempt: Attempt, place: Place, count: int) -> None:
        first = len(attempt.values)
        values = tuple(value_of(attempt.name, first + n) for n in range(count))
        attempt.values += [(place, value) for value in values]
        asked = self._world.now()
        offset = await self._producer.write(place, values)
        attempt.written.append(Written(place, values, offset, asked))

    async def _doze(self, entropy: SeededEntropy) -> None:
        """Now and then do nothing for longer than is wise; others may take over meanwhile."""
        drawn = entropy.below(20 if self._transform.deserts else 60)
        if self._work.is_calm or drawn > 1 or self.is_given_up.is_set():
            return
        self._world.say(self._transform.name, ("is given up", "sleeps")[drawn])
        if drawn == 0:
            self.is_given_up.set()
            await asyncio.sleep(entropy.below(10_000) / 1000)
        else:
            await asyncio.sleep(entropy.below(2 * self._transform.timeout_ms) / 1000)
