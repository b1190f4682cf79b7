"""The machine as a whole: the law of replay, takeovers, and one owner of each share."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.groups.golden import PARTITIONS, entries
from tests.groups.world import World

from quire.coordination import Producer
from quire.errors import ErrorCode
from quire.groups.coordinator import LOOK_FOR_EXPIRED, GroupCoordinator
from quire.groups.describing import DeleteGroups
from quire.groups.states import COMPLETING, EMPTY, STABLE

GROUP = st.sampled_from(["g", "h"])
WHO = st.integers(0, 5)
INSTANCE = st.sampled_from([None, None, "i-1", "i-2"])
STEP = st.one_of(
    st.tuples(st.just("join"), GROUP, WHO, INSTANCE),
    st.tuples(st.just("join"), GROUP, WHO, INSTANCE),
    st.tuples(st.just("sync"), GROUP, WHO),
    st.tuples(st.just("sync"), GROUP, WHO),
    st.tuples(st.just("heartbeat"), GROUP, WHO),
    st.tuples(st.just("leave"), GROUP, WHO),
    st.tuples(st.just("commit"), GROUP, WHO, st.integers(0, 2)),
    st.tuples(st.just("transact"), GROUP, st.integers(1, 2), st.integers(0, 2)),
    st.tuples(st.just("end"), st.integers(1, 2), st.booleans()),
    st.tuples(st.just("pass"), st.sampled_from([1, 500, 3_000, 9_999, 20_000, 700_000])),
    st.tuples(st.just("delete"), GROUP),
    st.tuples(st.just("drop topic")),
    st.tuples(st.just("reload")),
)


class Play:
    """Members that do what they are told, as well as they can."""

    def __init__(self) -> None:
        self.world = World(offsets_retention_ms=600_000, offsets_check_interval_ms=300_000)
        self.known: list[tuple[str, str, int]] = []
        """Group, member id and generation of answers, old and new."""
        self.owners: dict[tuple[str, int, bytes], str] = {}
        """Who was given a share: by group, generation and share."""
        self.waiting: dict[int, tuple[str, int, str]] = {}
        """Group, generation and member of each ticket that asks for a share."""

    def who(self, number: int, group_id: str) -> tuple[str, int]:
        mine = [one for one in self.known if one[0] == group_id]
        if not mine:
            return "", -1
        _, member_id, generation = mine[-1 - number % len(mine)]
        return member_id, generation

    def do(self, step: tuple[Any, ...]) -> None:
        world = self.world
        match step:
            case ("join", group_id, number, instance):
                member_id, _ = self.who(number, group_id) if number % 2 else ("", -1)
                world.join(group_id, member_id, instance=instance)
            case ("sync", group_id, number):
                self.sync(group_id, number)
            case ("heartbeat", group_id, number):
                world.heartbeat(*self.who(number, group_id), group_id=group_id)
            case ("leave", group_id, number):
                world.leave((self.who(number, group_id)[0], None), group_id=group_id)
            case ("commit", group_id, number, partition):
                member_id, generation = self.who(number, group_id)
                world.commit(
                    world.end_offset, partition=partition, group_id=group_id,
                    member_id=member_id, generation=generation,
                )  # fmt: skip
            case ("transact", group_id, number, partition):
                world.commit_in(
                    Producer(number, 0), world.end_offset, partition=partition, group_id=group_id
                )
            case ("end", number, committed):
                world.end(Producer(number, 1), committed=committed)
            case ("pass", duration_ms):
                world.pass_ms(duration_ms)
            case ("delete", group_id):
                world.answer(DeleteGroups((group_id,)), 2)
            case ("drop topic",):
                world.take(world.machine.on_image(world.moment(), ("orders",)))
            case ("reload",):
                world.reload()
        self.learn()

    def sync(self, group_id: str, number: int) -> None:
        member_id, generation = self.who(number, group_id)
        members = [one[1] for one in self.known if one[0] == group_id and one[2] == generation]
        plan = {one: b"%d" % at for at, one in enumerate(dict.fromkeys(members))}
        ticket = self.world.sync(member_id, generation, plan, group_id)
        self.waiting[ticket] = group_id, generation, member_id

    def learn(self) -> None:
        """Remember what the answers said, and that a share has one owner in a generation."""
        for ticket, answer in list(self.world.answers.items()):
            name = type(answer).__name__
            if name == "JoinGroupResponse" and answer.member_id:
                group_id = self.group_of(answer)
                if group_id is not None:
                    self.known.append((group_id, answer.member_id, answer.generation_id))
            elif name == "SyncGroupResponse" and answer.assignment:
                group_id, generation, member_id = self.waiting[ticket]
                share = group_id, generation, bytes(answer.assignment)
                owner = self.owners.setdefault(share, member_id)
                instances = self.world.group(group_id).instances.values()
                assert owner == member_id or member_id in instances, "two owners"
            self.world.answers[ticket] = None  # heard

    def group_of(self, answer: Any) -> str | None:
        """Where a member id belongs."""
        for group_id in ("g", "h"):
            group = self.world.machine.find(group_id)
            members = (*getattr(group, "members", ()), *getattr(group, "expected", ()))
            if answer.member_id in members:
                return group_id
        return None


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, max_size=60))
def test_a_machine_that_is_fed_with_the_log_knows_the_same(steps: list[tuple[Any, ...]]) -> None:
    play = Play()
    for step in steps:
        play.do(step)
    assert play.world.replayed().stored == play.world.machine.stored


def test_kafka_s_partitions_are_taken_over_with_their_members() -> None:
    world = World()
    for partition in PARTITIONS:
        machine = GroupCoordinator(partition, lambda: world.settings, world.entropy.bytes)
        for offset, record, producer, commits in entries(partition):
            if commits is None:
                machine.replay(record, offset=offset, producer=producer)
            else:
                assert producer is not None
                machine.replay_end(producer, committed=commits)
        decision = machine.loaded(world.moment())
        machine.check()
        assert decision.records == ()
        sessions = [timer.key for timer in decision.timers if timer.key != LOOK_FOR_EXPIRED]
        stored = sum(len(group.members) for group in machine.stored.groups.values())
        assert len(sessions) == stored
        assert stored == (1 if partition == 2 else 0)


def test_a_new_group_is_written_before_it_has_members() -> None:
    world = World()
    ticket = world.join()
    assert world.answers[ticket].error_code == ErrorCode.MEMBER_ID_REQUIRED
    (stored,) = world.machine.stored.groups.values()
    assert (stored.protocol_type, stored.generation, stored.members) == ("", 0, ())


def test_between_two_records_generations_pass_that_only_members_see() -> None:
    world = World()
    ids = [world.member_id() for _ in range(2)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    assert world.group().state is COMPLETING
    assert world.machine.stored.groups["g"].generation == 0
    world.reload()
    assert world.group().state is EMPTY
    assert world.heartbeat(ids[0], 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_takeover_keeps_a_stable_group_with_its_shares() -> None:
    world = World()
    ids = world.stable(3)
    world.reload()
    assert world.group().state is STABLE
    shares = [world.answers[world.sync(one, 1)].assignment for one in ids]
    assert shares == [b"share of 0", b"share of 1", b"share of 2"]


def test_an_image_without_deleted_topics_changes_nothing() -> None:
    world = World()
    world.commit(1)
    assert world.machine.on_image(world.moment(), ()).records == ()


def test_timers_of_groups_that_are_gone_change_nothing() -> None:
    world = World()
    assert world.machine.on_timer(("join", "gone", ""), world.moment()).records == ()
