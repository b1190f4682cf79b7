"""Members come, leave, crash and freeze while the node does too: each partition has one owner, and no commit is lost.

One group shares the partitions of one or two topics among several consumers. A consumer is a member for a while: it
joins, beats, commits ever higher offsets from where it found them, and then leaves, crashes without a word or freezes
for longer than its session, to wake up as if nothing had been. Some are static and come back under their instance; some
never come back. An auditor asks all the time what is committed.

In half of the worlds answers wait for the disk, and power may be lost; in the others it is not.

Two phases: faults, then everything is healed and must settle: all consumers that are left are in one generation for
longer than any session lasts, own all partitions among them, and a clean restart changes no offset.

Not here   the protocol of a member (membership: another kind of group brings another Membership), the laws (ownership).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quire.sim.entropy import SeededEntropy
from quire.sim.history import Place
from quire.sim.nemesis import WEIGHTS
from quire.sim.ownership import Gone, Ownership
from quire.sim.workloads.membership import (
    ClassicMembership,
    GroupTerms,
    Membership,
    committed_offsets,
)
from quire.sim.workloads.work import (
    DURABLE,
    FAULTS_WITHOUT_LOSS,
    PAUSE_SECONDS,
    Line,
    World,
    create_topic,
)

GROUP = "group"
GROUP_KEY = 0
"""The kind of coordinator (FindCoordinator)."""
LOOK_SECONDS = 0.5
AUDIT_SECONDS = 0.4
"""The auditor is quick and impatient: it looks at what a dead node has lost before members commit more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the seed decides before anything runs."""

    topics: dict[str, int]
    terms: tuple[GroupTerms, ...]
    """One for each consumer."""
    is_durable: bool
    first_rebalance_delay_ms: int
    offsets_partitions: int


def plan(entropy: SeededEntropy) -> Plan:
    """Draw a plan."""
    topics = {f"topic-{number}": 1 + entropy.below(4) for number in range(1 + entropy.below(2))}
    terms = tuple(
        GroupTerms(
            GROUP,
            session_ms=2000 + entropy.below(6000),
            rebalance_ms=2000 + entropy.below(5000),
            instance_id=f"instance-{number}" if entropy.one_in(3) else None,
        )
        for number in range(2 + entropy.below(4))
    )
    return Plan(
        topics=topics,
        terms=terms,
        is_durable=entropy.one_in(2),
        first_rebalance_delay_ms=entropy.below(1500),
        offsets_partitions=1 + entropy.below(3),
    )


class GroupsWorkload:
    """See the module."""

    def __init__(self, world: World, entropy: SeededEntropy) -> None:
        self._world = world
        self._entropy = entropy
        self.plan = plan(entropy.stream("plan"))
        places = tuple(Place(t, p) for t, count in self.plan.topics.items() for p in range(count))
        self.history = Ownership(places)
        self.is_calm = False
        self.is_over = False

    def settings(self) -> dict[str, str]:
        return {
            "group.min.session.timeout.ms": "500",
            "group.initial.rebalance.delay.ms": str(self.plan.first_rebalance_delay_ms),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": str(self.plan.offsets_partitions),
            **(DURABLE if self.plan.is_durable else {}),
        }

    def faults(self) -> dict[str, int]:
        return WEIGHTS if self.plan.is_durable else FAULTS_WITHOUT_LOSS

    def judge(self) -> None:
        self.history.judge()

    def acknowledged(self) -> int:
        return sum(len(one.offsets) for one in self.history.accepted)

    async def run(self, faults: asyncio.Task[None]) -> None:
        for topic, partitions in self.plan.topics.items():
            await create_topic(self._world, topic, partitions)
        consumers = [
            Consumer(number, terms, self, self._world, self._entropy.stream(f"consumer {number}"))
            for number, terms in enumerate(self.plan.terms)
        ]
        living = [asyncio.ensure_future(one.run()) for one in consumers]
        auditing = asyncio.ensure_future(self._audit())
        await faults
        self.is_calm = True
        settling = asyncio.ensure_future(self._until_settled(consumers))
        await asyncio.wait(
            [settling, auditing, *living], return_when=asyncio.FIRST_EXCEPTION
        )  # consumers and auditor end when it is over
        for one in (*living, auditing, settling):
            if one.done():
                one.result()
        await self._look_once_more()

    async def _until_settled(self, consumers: list[Consumer]) -> None:
        """All are in one generation, and stay in it for longer than any session."""
        stay_seconds = 2.5 * max(terms.session_ms for terms in self.plan.terms) / 1000
        picture: dict[str, tuple[int, tuple[Place, ...]]] = {}
        since = self._world.now()
        while True:
            now = self._world.now()
            found = {one.name: one.standing() for one in consumers if not one.has_retired}
            settled = {name: standing for name, standing in found.items() if standing is not None}
            if (
                len(settled) < len(found)
                or settled != picture
                or len({generation for generation, _ in settled.values()}) != 1
            ):
                picture, since = settled, now
            elif now - since >= stay_seconds:
                self.history.settled = settled
                self.is_over = True
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _audit(self) -> None:
        line = Line(self._world, "auditor", GROUP, GROUP_KEY)
        while not self.is_over:
            await self._found(line)
            await asyncio.sleep(AUDIT_SECONDS)
        line.hang_up()

    async def _look_once_more(self) -> None:
        line = Line(self._world, "auditor", GROUP, GROUP_KEY)
        self.history.before_restart = await self._found_at_last(line)
        await self._world.life.restart_cleanly()
        line.hang_up()
        self.history.after_restart = await self._found_at_last(line)
        line.hang_up()

    async def _found(self, line: Line) -> dict[Place, int] | None:
        found = await committed_offsets(
            self._world, line, GROUP, self.history.places, seconds=AUDIT_SECONDS
        )
        if found is None:
            return None
        self.history.found.append(found)
        return found.offsets

    async def _found_at_last(self, line: Line) -> dict[Place, int]:
        while True:
            found = await self._found(line)
            if found is not None:
                return found
            await asyncio.sleep(PAUSE_SECONDS)


class Consumer:
    """One that is a member again and again."""

    def __init__(
        self,
        number: int,
        terms: GroupTerms,
        work: GroupsWorkload,
        world: World,
        entropy: SeededEntropy,
    ) -> None:
        self.name = f"consumer-{number}"
        self.has_retired = False
        self._may_retire = number > 0
        self._terms = terms
        self._work = work
        self._world = world
        self._entropy = entropy
        self._member: Membership | None = None
        self._lives = 0
        self._faults_before: dict[str, int] = {}
        self._ghosts: list[asyncio.Task[None]] = []

    def standing(self) -> tuple[int, tuple[Place, ...]] | None:
        """Generation and share, when it has one and was believed when it last asked."""
        member = self._member
        return (member.generation, member.places) if member and member.is_settled else None

    async def run(self) -> None:
        """Be a member until it is over, or until it retires."""
        await asyncio.sleep(self._entropy.below(2000) / 1000)
        while not self._work.is_over and not self.has_retired:
            self._lives += 1
            self._member = ClassicMembership(
                f"{self.name}.{self._lives}",
                self._terms,
                self._work.history,
                self._world,
                self._entropy.stream(f"life {self._lives}"),
            )
            await self._live(self._member)
            if not self._work.is_over:
                await self._rest()
        await asyncio.gather(*self._ghosts)

    async def _live(self, member: Membership) -> None:
        """One membership, to its end."""
        while not self._work.is_over:
            if not await member.enter():
                return
            while member.is_in and not self._work.is_over:
                await asyncio.sleep((200 + self._entropy.below(600)) / 1000)
                if not self._work.is_calm and self._entropy.one_in(20):
                    await self._do_something_else(member)
                else:
                    self._faults_before = dict(self._world.history.faults)
                    if await member.beat() and self._entropy.one_in(2):
                        await member.commit()

    async def _do_something_else(self, member: Membership) -> None:
        drawn = self._entropy.below(3)
        self._world.say(self.name, ("leaves", "crashes", "freezes")[drawn], id=member.member_id)
        if drawn == 0:
            await member.leave()
        elif drawn == 1:
            self._ghosts.append(asyncio.ensure_future(self._haunt(member)))
            member.is_in = False
            member.is_over = True
        else:
            await self._freeze(member)

    async def _freeze(self, member: Membership) -> None:
        """Do nothing for longer than the session lasts; then go on as if it still were a member.

        It is surely none when it was heard, nothing was broken since before, and no rebalance can have begun its
        session anew, as one does for a static member.
        """
        begun, reign = member.last_asked, self._world.reign()
        was_heard = member.is_settled and self._terms.instance_id is None
        await asyncio.sleep(self._entropy.below(2 * self._terms.session_ms) / 1000)
        now = self._world.now()
        is_calm = self._faults_before == self._world.history.faults
        is_expelled = is_calm and now - begun > self._terms.session_ms / 1000 + 2.0
        if was_heard and is_expelled and reign == self._world.reign():
            self._work.history.gone.append(Gone(member.member_id, now, reign))
        await member.commit()

    async def _haunt(self, member: Membership) -> None:
        """A member that is thought to have crashed is heard of once more."""
        await asyncio.sleep(self._entropy.below(10_000) / 1000)
        await member.commit()
        await member.beat()

    async def _rest(self) -> None:
        if self._may_retire and not self._work.is_calm and self._entropy.one_in(8):
            self._world.say(self.name, "retires")
            self.has_retired = True
            return
        await asyncio.sleep(self._entropy.below(self._terms.session_ms) / 1000)
