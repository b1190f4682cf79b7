from __future__ import annotations

from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.unregister_broker import UnregisterBrokerRequest


def test_a_broker_is_forgotten() -> None:
    scene = Scene(brokers=2)
    scene.world.lose(2)
    assert scene.ask(UnregisterBrokerRequest(broker_id=2)).error_code == ErrorCode.NONE
    assert list(scene.broker.image.brokers) == [1]
    again = scene.ask(UnregisterBrokerRequest(broker_id=2))
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
