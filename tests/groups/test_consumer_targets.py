from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld, image_of, topic_id

from quire.groups.consumer_targets import NO_TOPICS_HASH, metadata_hash

ORDERS, RETURNS = topic_id("orders"), topic_id("returns")


def test_the_hash_changes_with_the_topics_that_are_read_and_with_nothing_else() -> None:
    names: dict[str, None] = {"orders": None, "missing": None}
    first = metadata_hash(names, image_of(orders=4))
    assert metadata_hash(names, image_of(orders=4, returns=1)) == first
    assert metadata_hash(names, image_of(orders=5)) != first
    assert metadata_hash({**names, "returns": None}, image_of(orders=4, returns=1)) != first
    assert metadata_hash({"missing": None}, image_of(orders=4)) == NO_TOPICS_HASH
    assert -(2**63) <= first < 2**63


def test_more_partitions_make_an_epoch_and_a_target_at_the_next_heartbeat() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.change_topics(orders=3)
    assert world.consumers().stored.epoch == 2
    world.settle(a)
    assert (world.consumers().stored.epoch, a.owned) == (3, {ORDERS: (0, 1, 2)})


def test_a_topic_that_nobody_reads_changes_nothing() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.change_topics(returns=3)
    written = len(world.log)
    a.beat()
    assert len(world.log) == written


def test_a_topic_that_is_deleted_is_given_back() -> None:
    world = ConsumerWorld(orders=2, returns=1)
    a = world.consumer("a", "orders", "returns")
    assert a.owned == {ORDERS: (0, 1), RETURNS: (0,)}
    world.change_topics(returns=0)
    world.settle(a)
    assert a.owned == {ORDERS: (0, 1)}


def test_a_pattern_means_topics_that_come_and_go() -> None:
    world = ConsumerWorld(orders=1)
    a = world.consumer("a", topics=None, pattern="or.*|re.*")
    assert a.owned == {ORDERS: (0,)}
    assert world.consumers().stored.patterns["or.*|re.*"].topics == ("orders",)
    world.change_topics(returns=1)
    world.settle(a)
    assert a.owned == {ORDERS: (0,), RETURNS: (0,)}
    world.change_topics(orders=0)
    world.settle(a)
    assert a.owned == {RETURNS: (0,)}
    a.leave()
    assert world.consumers().stored.patterns == {}


def test_targets_keep_a_distance_and_the_first_one_does_not_wait() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    assert a.owned == {ORDERS: (0, 1, 2, 3)}
    world.pass_ms(999)
    b = world.consumer("b", "orders")
    assert (b.epoch, world.consumers().stored.target_epoch) == (2, 2)
    world.pass_ms(1)
    b.beat()
    assert world.consumers().stored.target_epoch == 3


def test_the_distance_is_the_group_s_or_the_cluster_s() -> None:
    for is_of_group in (False, True):
        world = ConsumerWorld(orders=4)
        if is_of_group:
            world.set_group(consumer_assignment_interval_ms=7_000)
        else:
            world.set_cluster(group_consumer_assignment_interval_ms=7_000)
        a = world.consumer("a", "orders")
        world.consumer("b", "orders")
        world.pass_ms(6_999)
        a.beat()
        assert world.consumers().stored.target_epoch == 2
        world.pass_ms(1)
        a.beat()
        assert world.consumers().stored.target_epoch == 3


def test_the_assignor_that_most_members_ask_for_is_taken() -> None:
    world = ConsumerWorld(orders=4)
    world.consumer("a", "orders", assignor="range")
    world.consumer("b", "orders", assignor="uniform")
    assert world.described().assignor_name == "range"
    world.consumer("c", "orders", assignor="uniform")
    assert world.described().assignor_name == "uniform"
    assert ConsumerWorld(orders=1).consumer("a", "orders").world.described().assignor_name == (
        "uniform"
    )


def test_the_range_assignor_gives_the_same_numbers_of_each_topic() -> None:
    world = ConsumerWorld(orders=2, returns=2)
    a = world.consumer("a", "orders", "returns", assignor="range")
    b = world.consumer("b", "orders", "returns", assignor="range")
    world.settle(a, b)
    assert a.owned == {ORDERS: (0,), RETURNS: (0,)}
    assert b.owned == {ORDERS: (1,), RETURNS: (1,)}
