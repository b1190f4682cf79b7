from __future__ import annotations

from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest


def test_blocks_follow_one_another() -> None:
    scene = Scene()
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=scene.broker.broker_epoch)
    found = [scene.ask(request, client=BY_CONTROLLER) for _ in range(2)]
    assert [(one.producer_id_start, one.producer_id_len) for one in found] == [
        (0, 1000), (1000, 1000),
    ]  # fmt: skip


def test_another_registrations_epoch_is_refused() -> None:
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1)
    response = Scene().ask(request, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
