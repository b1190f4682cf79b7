from __future__ import annotations

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.transactions import as_known, ask, decide, settings_of, told
from quire.errors import ErrorCode
from quire.records.batch import iterate_headers
from quire.transactions.commands import Describe, Init


def test_the_coordinators_settings_are_the_brokers() -> None:
    async def story(house: Storehouse) -> None:
        found = settings_of(house.broker.layers.settings)
        assert (found.timeout_max_ms, found.id_expiration_ms) == (1234, 604_800_000)
        assert (found.look_for_timeouts_ms, found.look_for_expired_ms) == (10_000, 3_600_000)

    tell(story, transaction_max_timeout_ms="1234")


def test_batches_of_the_topic_carry_what_kafkas_carry() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await desk.begin()
        log = house.replica(TRANSACTIONS, desk.host.partition_for("t") or 0).log
        content = log.read(0, max_bytes=1000, upper_bound_offset=1).records.read()  # type: ignore[union-attr]
        ((_, header),) = iterate_headers(content)
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
        assert (header.attributes, header.record_count) == (0, 1)

    tell(story)


def test_a_producer_id_is_drawn_only_where_the_coordinator_needs_one() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        desk.ids.away = 1
        again = await decide(desk.broker, Init("t", 1000))
        assert again.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert await decide(desk.broker, Init("t", 1000)) == (ErrorCode.NONE, 101, 0)
        assert await decide(desk.broker, Init("t", 1000)) == (ErrorCode.NONE, 101, 1)
        assert desk.ids.last == 101

    tell(story)


def test_who_is_not_answered_looks_for_the_coordinator_again() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house, leader=2)
        assert await ask(desk.broker, "t", Describe("t")) is ErrorCode.NOT_COORDINATOR
        refused = await decide(desk.broker, Init("t", 1000))
        assert refused.code is ErrorCode.NOT_COORDINATOR
        del desk.broker.hosts[TRANSACTIONS]
        assert await ask(desk.broker, "t", Describe("t")) is ErrorCode.COORDINATOR_NOT_AVAILABLE

    tell(story)


@pytest.mark.parametrize(
    ("api", "version", "code"),
    [
        ("InitProducerId", 3, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("InitProducerId", 4, ErrorCode.PRODUCER_FENCED),
        ("EndTxn", 1, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("EndTxn", 2, ErrorCode.PRODUCER_FENCED),
        ("AddPartitionsToTxn", 1, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("AddOffsetsToTxn", 2, ErrorCode.PRODUCER_FENCED),
    ],
)
def test_old_clients_are_told_of_fencing_in_their_words(
    api: str, version: int, code: ErrorCode
) -> None:
    assert as_known(ErrorCode.PRODUCER_FENCED, api, version) is code
    assert as_known(ErrorCode.INVALID_TXN_STATE, api, version) is ErrorCode.INVALID_TXN_STATE


def test_a_late_replica_is_no_answer_that_producers_know() -> None:
    assert told(ErrorCode.REQUEST_TIMED_OUT) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert told(ErrorCode.NOT_COORDINATOR) is ErrorCode.NOT_COORDINATOR
