from __future__ import annotations

from typing import Any

from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.broker.internal_topics import TRANSACTIONS
from quire.errors import ErrorCode
from quire.protocol.messages.list_transactions import ListTransactionsRequest


def request(**filters: Any) -> ListTransactionsRequest:
    return ListTransactionsRequest(**{"state_filters": [], "producer_id_filters": [], **filters})


async def shown(desk: Desk, **filters: Any) -> list[tuple[str, str]]:
    answer = await desk.ask(request(**filters))
    assert answer.error_code == ErrorCode.NONE
    return sorted(
        (one.transactional_id, one.transaction_state) for one in answer.transaction_states
    )


def test_every_id_of_every_partition_is_listed_as_the_filters_say() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        ids = {name: await desk.begin(name) for name in ("job-1", "job-2", "other")}
        await desk.add("job-2", ids["job-2"], ("orders", 0))
        assert len(desk.host) == 2
        assert await shown(desk) == [("job-1", "Empty"), ("job-2", "Ongoing"), ("other", "Empty")]
        assert await shown(desk, state_filters=["Ongoing"]) == [("job-2", "Ongoing")]
        wanted = [ids["other"].producer_id]
        assert await shown(desk, producer_id_filters=wanted) == [("other", "Empty")]
        pattern = await shown(desk, transactional_id_pattern="job-.*")
        assert [name for name, _ in pattern] == ["job-1", "job-2"]
        assert await shown(desk, duration_filter=1 << 60) == []
        for version in (0, 1):
            assert len((await desk.ask(request(), version)).transaction_states) == 3

    tell(story)


def test_unknown_states_are_echoed_and_bad_patterns_refused() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await desk.begin()
        answer = await desk.ask(request(state_filters=["Odd"]))
        assert (answer.unknown_state_filters, answer.transaction_states) == (["Odd"], [])
        refused = await desk.ask(request(transactional_id_pattern="("))
        assert refused.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION

    tell(story)


def test_a_list_that_would_not_be_whole_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await desk.begin()
        again = Desk(house, desk.broker.peers)
        again.catch_up()
        assert again.host.is_loading
        refused = await again.ask(request())
        assert refused.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        del desk.broker.hosts[TRANSACTIONS]
        refused = await desk.ask(request())
        assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    tell(story)
