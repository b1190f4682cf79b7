from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.init_producer_id import InitProducerIdRequest


def init(name: str | None = None, producer_id: int = -1, epoch: int = -1) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=60_000,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


@pytest.mark.parametrize("version", range(6))
def test_every_producer_gets_an_id_of_its_own(version: int) -> None:
    scene = Scene()
    found = [scene.ask(init(), version) for _ in range(3)]
    assert [one.producer_id for one in found] == [0, 1, 2]
    assert {(one.error_code, one.producer_epoch) for one in found} == {(ErrorCode.NONE, 0)}
    assert scene.world.image.next_producer_id == 1000


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (init(None, 7, 3), ErrorCode.NONE),
        (init(None, 7, -1), ErrorCode.INVALID_REQUEST),
        (init(None, -1, 3), ErrorCode.INVALID_REQUEST),
        (init(""), ErrorCode.INVALID_REQUEST),
        (init("tx"), ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_what_is_refused(request_: InitProducerIdRequest, code: ErrorCode) -> None:
    response = Scene().ask(request_)
    assert response.error_code == code
    assert (response.producer_id, response.producer_epoch) == (
        (0, 0) if code is ErrorCode.NONE else (-1, -1)
    )


def test_without_a_controller_the_producer_shall_ask_again() -> None:
    scene = Scene()
    scene.link.away = 1
    assert scene.ask(init()).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert scene.ask(init()).error_code == ErrorCode.NONE
