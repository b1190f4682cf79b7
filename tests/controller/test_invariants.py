from __future__ import annotations

from dataclasses import replace

import pytest
from tests.controller.world import World

from quire.controller.invariants import check_image, check_step
from quire.metadata.image import Image, Topic


@pytest.fixture
def image():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    return world.image


def with_partition(image: Image, **changes) -> Image:
    topic = image.topics["t"]
    partitions = {0: replace(topic.partitions[0], **changes)}
    return replace(image, topics={"t": replace(topic, partitions=partitions)})


def test_what_a_controller_makes_is_sound(image):
    check_image(image)
    check_step(image, image)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        ("I1", {"isr": (2,)}),
        ("I2", {"isr": (1, 2, 3)}),
        ("I2", {"adding_replicas": (9,)}),
        ("I2", {"elr": (9,)}),
        ("I5", {"elr": (2,)}),
        ("I6", {"replicas": (1, 2, 2), "directories": ()}),
        ("I6", {"directories": (bytes(16),)}),
    ],
)
def test_each_invariant_of_a_partition_is_seen_when_broken(image, number, changes):
    with pytest.raises(AssertionError, match=number):
        check_image(with_partition(image, **changes))


def test_a_fenced_or_unknown_leader_is_seen(image):
    fenced = {**image.brokers, 1: replace(image.brokers[1], fenced=True)}
    with pytest.raises(AssertionError, match="I4"):
        check_image(replace(image, brokers=fenced))
    with pytest.raises(AssertionError, match="I4"):
        check_image(replace(image, brokers={}))


def test_eligible_replicas_without_elr_are_seen(image):
    eligible = with_partition(image, isr=(1,), elr=(2,))
    check_image(eligible)
    with pytest.raises(AssertionError, match="I7"):
        check_image(replace(eligible, features={"metadata.version": 30}))


def test_topics_that_do_not_add_up_are_seen(image):
    with pytest.raises(AssertionError, match="I8"):
        check_image(replace(image, topic_names={}))
    gap = Topic("t", image.topics["t"].topic_id, {1: image.topics["t"].partitions[0]})
    with pytest.raises(AssertionError, match="I8"):
        check_image(replace(image, topics={"t": gap}))


def test_steps_backwards_are_seen(image):
    later = with_partition(image, leader_epoch=4, partition_epoch=4)
    with pytest.raises(AssertionError, match="I3"):
        check_step(later, image)
    with pytest.raises(AssertionError, match="I9"):
        check_step(replace(image, next_producer_id=1), image)
    older = {**image.brokers, 1: replace(image.brokers[1], broker_epoch=0)}
    with pytest.raises(AssertionError, match="I10"):
        check_step(image, replace(image, brokers=older))


def test_a_set_that_empties_without_elr_and_a_fenced_newcomer_are_seen(image):
    plain = replace(image, features={"metadata.version": 30})
    with pytest.raises(AssertionError, match="I7"):
        check_step(plain, with_partition(plain, isr=(), leader=-1))
    fenced = {**image.brokers, 2: replace(image.brokers[2], fenced=True)}
    with pytest.raises(AssertionError, match="I11"):
        check_step(with_partition(image, isr=(1,)), replace(image, brokers=fenced))
