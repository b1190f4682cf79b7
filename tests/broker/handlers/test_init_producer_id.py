from __future__ import annotations

import pytest
from tests.broker.scene import Scene
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

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


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_id_is_its_coordinators(version: int) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        for epoch in range(2):
            answer = await desk.ask(init("tx"), version)
            assert answer.error_code == ErrorCode.NONE
            assert (answer.producer_id, answer.producer_epoch) == (101, epoch)

    tell(story)


def test_a_producer_that_was_fenced_is_told_so_in_words_that_it_knows() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await desk.ask(init("tx"))
        await desk.ask(init("tx"))
        for version, code in (
            (3, ErrorCode.INVALID_PRODUCER_EPOCH),
            (5, ErrorCode.PRODUCER_FENCED),
        ):
            answer = await desk.ask(init("tx", 101, 0), version)
            assert answer.error_code == code
        assert (await desk.ask(init("tx", 101, 1))).producer_epoch == 2

    tell(story)


@pytest.mark.parametrize(
    ("enabled", "code"),
    [
        ("false", ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        ("true", ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_two_phase_commit_is_refused_by_its_name(enabled: str, code: ErrorCode) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        asked = init("tx")
        asked.enable2_pc = True
        assert (await desk.ask(asked, 6)).error_code == code
        kept = init("tx")
        kept.keep_prepared_txn = True
        assert (await desk.ask(kept, 6)).error_code == ErrorCode.UNSUPPORTED_VERSION

    tell(story, transaction_two_phase_commit_enable=enabled)
