"""Consumer groups as a whole: the law of replay, one owner of each partition, and everybody settles."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.groups.consumer_world import (
    AWAY,
    REBALANCE_MS,
    Consumer,
    ConsumerWorld,
    Owned,
    topic_id,
)
from tests.groups.test_consumer_classic import said, synced

from quire.errors import ErrorCode
from quire.groups.consumer_group import ConsumerGroup

WHO = st.integers(0, 4)
TOPICS = st.sampled_from([("orders",), ("returns",), ("orders", "returns"), ()])
STEP = st.one_of(
    st.tuples(st.just("join"), WHO, TOPICS),
    st.tuples(st.just("beat"), WHO),
    st.tuples(st.just("beat"), WHO),
    st.tuples(st.just("beat"), WHO),
    st.tuples(st.just("lose answer"), WHO),
    st.tuples(st.just("revoke"), WHO),
    st.tuples(st.just("subscribe"), WHO, TOPICS),
    st.tuples(st.just("leave"), WHO),
    st.tuples(st.just("go away"), WHO),
    st.tuples(st.just("crash"), WHO),
    st.tuples(st.just("classic"), WHO),
    st.tuples(st.just("commit"), WHO),
    st.tuples(st.just("topics"), st.sampled_from(["orders", "returns"]), st.integers(0, 5)),
    st.tuples(st.just("pass"), st.sampled_from([1, 500, 1_000, 5_000, 21_000, 46_000])),
    st.tuples(st.just("reload")),
)


TWO = st.integers(0, 1)
MIXED = st.one_of(
    st.tuples(st.just("join"), TWO, st.just(("orders",))),
    st.tuples(st.just("beat"), TWO),
    st.tuples(st.just("revoke"), TWO),
    st.tuples(st.just("leave"), TWO),
    st.tuples(st.just("classic"), TWO),
    st.tuples(st.just("classic"), TWO),
    st.tuples(st.just("pass"), st.sampled_from([500, 1_000, 3_000])),
    st.tuples(st.just("rounds"), st.integers(1, 4)),
    st.tuples(st.just("reload")),
)
"""Members of both protocols, which only come, go and share."""


class SlowConsumer(Consumer):
    """It takes its time to give partitions back: until then it works on them, and says so."""

    held: Owned
    has_lost_an_answer = False
    """It says everything again, and is told everything again."""

    def join(self) -> None:
        self.held = {}
        super().join()
        self.take()

    def beat(self, **how: Any) -> None:
        given, self.owned = self.owned, self.held
        if self.has_lost_an_answer:
            how = {"topics": list(self.topics), "rebalance_ms": REBALANCE_MS} | how
        super().beat(**how)
        self.has_lost_an_answer = False
        if self.owned is self.held:  # no news
            self.owned = given
        elif self.epoch == 0:
            self.held = {}
        if self.error is ErrorCode.NONE:
            self.take()

    def take(self) -> None:
        for topic, numbers in self.owned.items():
            self.held[topic] = tuple(sorted({*self.held.get(topic, ()), *numbers}))

    def revoke(self) -> None:
        self.held = dict(self.owned)

    def stop(self) -> None:
        self.owned, self.held = {}, {}
        self.epoch = 0


class ClassicConsumer:
    """It speaks the classic protocol: it sends heartbeats, and joins anew when it is told so."""

    def __init__(self, world: ConsumerWorld, member_id: str) -> None:
        self.world = world
        self.member_id = member_id
        self.generation = -1
        self.owned: tuple[int, ...] = ()
        self.has_joined = False

    def act(self) -> None:
        if not isinstance(self.world.machine.find("g"), ConsumerGroup):
            self.generation, self.owned, self.has_joined = -1, (), False  # nobody leads it here
            return
        if self.has_joined:
            self.sync()
            return
        code = ErrorCode.UNKNOWN_MEMBER_ID
        if self.generation >= 0:
            code = self.world.heartbeat(self.member_id, self.generation)
        if code is ErrorCode.NONE:
            return
        if code is not ErrorCode.REBALANCE_IN_PROGRESS:
            self.generation, self.owned = -1, ()
        self.join()

    def join(self) -> None:
        metadata = said(self.owned, self.generation)
        ticket = self.world.join(
            member_id=self.member_id, protocols={"cooperative-sticky": metadata},
            session_ms=10_000, rebalance_ms=10_000,
        )  # fmt: skip
        answer = self.world.answers.get(ticket)
        if answer is None or answer.error_code:
            self.generation, self.owned = -1, ()
            return
        self.generation = answer.generation_id
        self.has_joined = True

    def sync(self) -> None:
        """Until then it works on what it had."""
        self.has_joined = False
        found = synced(self.world, self.member_id, self.generation)
        if not isinstance(found, ErrorCode):
            self.owned = tuple(found)


class Play:
    """Consumers of one group that do what they are told, as well as they can."""

    def __init__(self, orders: int = 3) -> None:
        self.world = ConsumerWorld(orders=orders, returns=2)
        self.running: dict[int, SlowConsumer] = {}
        self.joined = 0
        self.classic: dict[int, ClassicConsumer] = {}

    def do(self, step: tuple[Any, ...]) -> None:
        world = self.world
        match step:
            case ("join", number, topics):
                if number not in self.running:
                    self.start(number, topics)
            case ("topics", name, count):
                world.change_topics(**{name: count})
            case ("pass", duration_ms):
                world.pass_ms(duration_ms)
            case ("reload",):
                world.reload()
            case ("rounds", count):
                for _ in range(count):
                    self.round()
            case ("classic", number):
                self.classic.setdefault(number, ClassicConsumer(world, f"c{number}")).act()
            case (what, number, *more):
                one = self.running.get(number)
                if one is not None and one.epoch > 0:
                    self.act(what, number, one, *more)

    def round(self) -> None:
        """Everybody does what is to be done now."""
        self.world.pass_ms(1_000)
        for one in self.running.values():
            one.revoke()
            one.beat()
        for old in self.classic.values():
            old.act()

    def start(self, number: int, topics: tuple[str, ...]) -> None:
        """Even ones are static: whoever comes next has another member id."""
        self.joined += 1
        instance = f"i{number}" if number % 2 == 0 else None
        one = SlowConsumer(self.world, f"m{self.joined}", topics, instance=instance)
        one.join()
        if one.error is ErrorCode.NONE:
            self.running[number] = one

    def act(self, what: str, number: int, one: SlowConsumer, *more: Any) -> None:
        if what == "beat":
            one.beat()
        elif what == "lose answer":
            self.world.beat(one.member_id, one.epoch, owned=one.held, instance=one.instance)
            one.has_lost_an_answer = True
        elif what == "revoke":
            one.revoke()
        elif what == "subscribe":
            one.topics = more[0]
            one.beat(topics=list(more[0]))
        elif what == "commit":
            self.world.commit(1, member_id=one.member_id, generation=one.epoch)
        elif what != "crash":
            epoch = AWAY if what == "go away" and one.instance else -1
            self.world.beat(one.member_id, epoch, instance=one.instance)
        if what in ("crash", "leave", "go away"):
            del self.running[number]

    def check_owners(self) -> None:
        """Of those who are members in their present epoch, no two work on one partition."""
        found = self.world.machine.find("g")
        if not isinstance(found, ConsumerGroup):
            return
        owners: dict[tuple[bytes, int], str] = {}
        for old in self.classic.values():
            wishes = found.stored.members.get(old.member_id)
            if wishes is not None and found.stored.holding(old.member_id).epoch == old.generation:
                for number in old.owned:
                    assert (topic_id("orders"), number) not in owners
                    owners[topic_id("orders"), number] = old.member_id
        for one in self.running.values():
            if one.member_id not in found.stored.members or one.epoch <= 0:
                continue
            if one.epoch != found.stored.holding(one.member_id).epoch:
                continue  # an answer was lost: it will be fenced, or told again
            for topic, numbers in one.held.items():
                for number in numbers:
                    assert (topic, number) not in owners, (one.member_id, owners)
                    owners[topic, number] = one.member_id

    def check_settles(self) -> None:
        """Everybody beats; crashed members and those of the other protocol are fenced meanwhile."""
        for _ in range(25):
            self.world.pass_ms(5_000)
            for one in self.running.values():
                one.revoke()
                one.beat()
        found = self.world.machine.find("g")
        if not self.running:
            return
        assert isinstance(found, ConsumerGroup)
        stored = found.stored
        assert stored.state.value == "Stable"
        assert set(stored.members) == {one.member_id for one in self.running.values()}
        given = set()
        for one in self.running.values():
            assert one.held == dict(stored.target(one.member_id))
            given |= set(one.held)
        wanted = {name for one in self.running.values() for name in one.topics}
        assert given == {topic_id(name) for name in wanted if name in self.world.counts}


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, min_size=12, max_size=60))
def test_whatever_happens_replay_agrees_partitions_have_one_owner_and_all_settle(
    steps: list[tuple[Any, ...]],
) -> None:
    play = Play()
    for step in steps:
        play.do(step)
        play.check_owners()
    assert play.world.replayed().stored == play.world.machine.stored
    play.check_settles()
    assert play.world.replayed().stored == play.world.machine.stored


@settings(max_examples=150, deadline=None)
@given(st.lists(MIXED, min_size=10, max_size=60))
def test_members_of_both_protocols_do_not_share_a_partition(steps: list[tuple[Any, ...]]) -> None:
    play = Play(orders=8)
    for step in [("join", 0, ("orders",)), ("classic", 0), ("rounds", 4), *steps]:
        play.do(step)
        play.check_owners()
    assert play.world.replayed().stored == play.world.machine.stored
    play.check_settles()


def test_a_heartbeat_turns_only_consumers_classic_groups_over() -> None:
    world = ConsumerWorld(orders=1)
    world.stable(protocol_type="connect", protocols={"x": b""})
    written = len(world.log)
    assert world.refused("a", 3) is ErrorCode.GROUP_ID_NOT_FOUND
    assert world.refused("a", -1) is ErrorCode.GROUP_ID_NOT_FOUND
    assert len(world.log) == written
