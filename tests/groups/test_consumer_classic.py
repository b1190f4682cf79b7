from __future__ import annotations

from typing import Any

import pytest
from tests.groups.consumer_world import ConsumerWorld, image_of, topic_id

from quire.errors import ErrorCode
from quire.groups.consumer_classic import read_assignment, read_subscription, write_assignment
from quire.protocol.compiler import codec
from quire.protocol.messages import consumer_protocol as spoken

ORDERS = topic_id("orders")
IMAGE = image_of(orders=4)


def said(owned: tuple[int, ...] = (), generation: int = -1, topic: str = "orders") -> bytes:
    """What a cooperative consumer says when it joins."""
    value = spoken.ConsumerProtocolSubscription(
        topics=[topic],
        owned_partitions=[
            spoken.ConsumerProtocolSubscriptionTopicPartition(topic=topic, partitions=list(owned))
        ],
        generation_id=generation,
    )
    return b"\x00\x03" + codec(spoken.ConsumerProtocolSubscription, 3).encode(value)


def join(
    world: ConsumerWorld, member_id: str = "c", metadata: bytes | None = None, **how: Any
) -> Any:
    """The answer to a classic member; it is there at once."""
    protocols = {"cooperative-sticky": said() if metadata is None else metadata}
    return world.answers[world.join(member_id=member_id, protocols=protocols, **how)]


def synced(world: ConsumerWorld, member_id: str, generation: int, **how: Any) -> Any:
    """The partitions, or the error."""
    answer = world.answers[world.sync(member_id, generation, **how)]
    if answer.error_code:
        return ErrorCode(answer.error_code)
    found = read_assignment(bytes(answer.assignment), world.image)
    assert found is not None
    return found.get(ORDERS, [])


def test_assignments_are_written_as_classic_members_read_them() -> None:
    for version in range(4):
        content = write_assignment({ORDERS: {1: 9, 0: 9}, topic_id("gone"): {0: 1}}, version, IMAGE)
        assert content[:2] == version.to_bytes(2, "big")
        assert read_assignment(content, IMAGE) == {ORDERS: [0, 1]}
    assert read_assignment(b"", IMAGE) == {}


@pytest.mark.parametrize("content", [b"\x00", b"\xff\xff\x00", b"\x00\x01\x00\x00\x00\x05"])
def test_what_is_no_consumer_s_word_is_not_read(content: bytes) -> None:
    assert read_assignment(content, IMAGE) is None
    assert read_subscription(content) is None


def test_a_classic_member_is_told_to_rejoin_until_it_has_its_share() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    first = join(world)
    assert (first.error_code, first.generation_id, first.leader) == (0, 3, "")
    assert (first.protocol_type, first.protocol_name) == ("consumer", "cooperative-sticky")
    assert synced(world, "c", 3) == []
    assert world.heartbeat("c", 3) is ErrorCode.NONE
    a.beat()
    assert world.heartbeat("c", 3) is ErrorCode.NONE
    a.beat()  # has given back
    assert world.heartbeat("c", 3) is ErrorCode.REBALANCE_IN_PROGRESS
    assert join(world, "c", said((), 3)).generation_id == 3
    assert synced(world, "c", 3) == [2, 3]
    assert world.heartbeat("c", 3) is ErrorCode.NONE
    assert [one.member_type for one in world.described().members] == [1, 0]


def test_a_classic_member_gives_back_and_then_goes_on() -> None:
    world = ConsumerWorld(orders=4)
    world.consumer("a")  # reads nothing
    assert join(world).generation_id == 2
    assert synced(world, "c", 2) == [0, 1, 2, 3]
    world.pass_ms(1_000)
    b = world.consumer("b", "orders")
    assert b.owned == {}
    assert synced(world, "c", 2) is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.heartbeat("c", 2) is ErrorCode.REBALANCE_IN_PROGRESS
    assert join(world, "c", said((0, 1, 2, 3), 2)).generation_id == 2
    assert synced(world, "c", 2) == [0, 1]
    assert world.heartbeat("c", 2) is ErrorCode.REBALANCE_IN_PROGRESS
    assert join(world, "c", said((0, 1), 2)).generation_id == 3
    b.beat()
    assert (synced(world, "c", 3), b.owned) == ([0, 1], {ORDERS: (2, 3)})


def test_who_is_of_another_generation_has_lost_everything() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a")
    join(world)
    world.pass_ms(1_000)
    generation = join(world).generation_id
    b = world.consumer("b", "orders")
    world.pass_ms(1_000)
    b.beat()
    generation = join(world, "c", said((0, 1), generation - 1)).generation_id
    b.beat()
    assert synced(world, "c", generation) == [0]
    assert b.owned == {ORDERS: (1,)}


def test_classic_members_are_refused_in_their_own_words() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders")
    inconsistent = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert join(world, protocol_type="connect").error_code == inconsistent
    assert join(world, metadata=b"").error_code == inconsistent
    answer = join(world, "")
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("client-")
    generation = join(world, answer.member_id).generation_id
    ticket = world.join(member_id="other", protocols={"sticky": said()})
    assert world.answers[ticket].error_code == inconsistent
    c = answer.member_id
    assert world.heartbeat("a", 2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(c, generation + 1) is ErrorCode.ILLEGAL_GENERATION
    assert world.heartbeat("z", generation) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(c, generation, "i") is ErrorCode.UNKNOWN_MEMBER_ID
    assert synced(world, c, generation, protocol_name="range") is inconsistent
    assert synced(world, c, generation + 1) is ErrorCode.ILLEGAL_GENERATION
    assert world.commit(1, member_id=c, generation=9) is ErrorCode.ILLEGAL_GENERATION
    assert world.commit(1, member_id=c, generation=generation, version=5) is ErrorCode.NONE


def test_a_full_group_takes_no_classic_member_either() -> None:
    world = ConsumerWorld({"consumer_group_size_max": 1}, orders=2)
    world.consumer("a", "orders")
    assert join(world).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_a_static_classic_member_takes_its_former_place() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders")
    first = join(world, "", instance="i")
    second = join(world, "", instance="i")
    assert first.generation_id == second.generation_id
    generation = second.generation_id
    assert world.heartbeat(first.member_id, generation, "i") is ErrorCode.FENCED_INSTANCE_ID
    assert world.heartbeat(second.member_id, generation, "i") is not ErrorCode.FENCED_INSTANCE_ID
    again = join(world, first.member_id, instance="i")
    assert again.error_code == ErrorCode.FENCED_INSTANCE_ID


def test_a_static_classic_member_is_restarted_with_the_new_protocol() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders")
    join(world, "", instance="i")
    b = world.consumer("b", "orders", instance="i")
    assert b.error is ErrorCode.NONE
    assert list(world.consumers().stored.members) == ["a", "b"]


def test_members_leave_by_their_id_or_by_their_instance() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders")
    world.consumer("b", "orders", instance="i")
    join(world)
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    assert world.leave(("z", None), ("", "j"), ("c", "i")) == [
        unknown, unknown, ErrorCode.FENCED_INSTANCE_ID,
    ]  # fmt: skip
    assert world.leave(("c", None), ("", "i")) == [ErrorCode.NONE] * 2
    assert list(world.consumers().stored.members) == ["a"]


def test_who_joins_and_does_not_sync_or_is_told_to_rejoin_and_does_not_is_fenced() -> None:
    for syncs in (False, True):
        world = ConsumerWorld(orders=2)
        a = world.consumer("a")
        generation = join(world, session_ms=60_000, rebalance_ms=20_000).generation_id
        if syncs:
            assert synced(world, "c", generation) == [0, 1]
            a.subscribe("orders")
        for _ in range(5):
            world.pass_ms(5_000)
            a.beat()
            if syncs and "c" in world.consumers().stored.members:
                assert world.heartbeat("c", generation) is ErrorCode.REBALANCE_IN_PROGRESS
        assert list(world.consumers().stored.members) == ["a"]
