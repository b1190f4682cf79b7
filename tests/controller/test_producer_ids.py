from __future__ import annotations

from dataclasses import replace

from tests.controller.world import Draws, SomeRules, World, kinds

from quire.controller.machine import Controller
from quire.errors import ErrorCode
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest


def ask(world, broker_id=1, **more):
    epoch = more.pop("broker_epoch", world.image.brokers[1].broker_epoch)
    return world.do(AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch))


def test_blocks_of_a_thousand_follow_one_another():
    world = World().start(1)
    for first in (0, 1000, 2000):
        decision = ask(world)
        assert kinds(decision) == ["ProducerIds"]
        answer = decision.response
        assert (answer.error_code, answer.producer_id_start, answer.producer_id_len) == (
            0, first, 1000,
        )  # fmt: skip
    assert world.image.next_producer_id == 3000


def test_only_a_broker_at_its_epoch_gets_ids():
    world = World().start(1)
    for decision in (ask(world, broker_epoch=0), ask(world, 2)):
        assert decision.response.error_code == ErrorCode.STALE_BROKER_EPOCH
        assert decision.records == ()


def test_ids_end_before_they_begin_again():
    world = World().start(1)
    image = replace(world.image, next_producer_id=2**63 - 500)
    world.controller = Controller(world.settings, SomeRules(), Draws(), image)
    assert ask(world).response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
