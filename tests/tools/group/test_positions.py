from __future__ import annotations

import pytest
from tests.clients.peer import versions
from tests.tools.group.scripts import TOPICS, A, B, committed, described, fetched, group, member
from tests.tools.scene import asked

from quire.clients.errors import NotSpokenError
from quire.protocol.apis import ApiKey
from quire.protocol.messages import fetch as fetching
from quire.protocol.messages.offset_fetch import OffsetFetchResponse, OffsetFetchResponseGroup
from quire.tools.group.members import find_group
from quire.tools.group.positions import (
    Position,
    committed_offsets,
    longest_lag,
    positions_of,
    row,
    total_lag,
)
from quire.types import TopicPartition

NOW = 61_040
PLACE = TopicPartition(*A)


def positions(scripts, topics=TOPICS):
    async def question(cluster):
        return await positions_of(cluster, await find_group(cluster, "g"))

    return asked(question, scripts, topics)


def test_the_lag_is_told_in_records_and_by_the_age_of_the_first_one_not_read() -> None:
    found, requests = positions(group(DESCRIBE_GROUPS=described([member("m", A)])))
    first, second = (row(one, NOW) for one in found)
    assert first == {
        "topic": "orders", "partition": 0, "committed": 40, "end": 100, "lag": 60,
        "lag_seconds": 60.0, "member": "m",
    }  # fmt: skip
    assert (second["lag"], second["lag_seconds"], second["member"]) == (0, 0.0, None)
    assert (total_lag(found), longest_lag(found, NOW)) == (60, 60.0)
    (read,) = [one for one in requests if isinstance(one, fetching.FetchRequest)]
    assert read.topics[0].partitions[0].fetch_offset == 40


def test_deleted_records_count_but_the_age_is_of_the_first_that_is_left() -> None:
    (one,), _ = positions(group(OFFSET_FETCH=committed({A: 4})))
    assert one.lag == 96
    assert one.lag_seconds(1010 + 5000) == 5.0


def test_what_a_member_reads_without_having_committed_is_shown_too() -> None:
    scripts = group(DESCRIBE_GROUPS=described([member("m", B)]), OFFSET_FETCH=committed({A: 100}))
    (_, one), _ = positions(scripts)
    assert (one.place, one.committed, one.end) == (TopicPartition(*B), None, 20)
    assert (one.lag, one.lag_seconds(NOW)) == (None, None)


def test_where_there_is_no_leader_or_no_topic_nothing_is_known() -> None:
    (one, other), _ = positions(group(), {"orders": {0: 1, 1: -1}})
    assert (one.lag, other.end, other.lag) == (60, None, None)
    (one, _), _ = positions(group(), {})
    assert row(one, NOW)["lag_seconds"] is None


def test_a_record_that_cannot_be_read_has_no_age() -> None:
    whole = fetched(1000)

    def broken(request, version):
        answer = whole(request, version)
        data = answer.responses[0].partitions[0]
        data.records = data.records[:-1] + b"x"
        return answer

    (one, _), _ = positions(group(FETCH=broken))
    assert (one.lag, one.lag_seconds(NOW)) == (60, None)


def test_an_offset_behind_the_end_and_a_record_from_the_future_are_not_below_nothing() -> None:
    cut = Position(PLACE, 50, 0, 10, None, None)
    assert (cut.lag, cut.lag_seconds(NOW)) == (0, 0.0)
    early = Position(PLACE, 5, 0, 10, NOW + 1, None)
    assert early.lag_seconds(NOW) == 0.0


def test_a_group_that_is_not_there_has_committed_nothing() -> None:
    def absent(request, _version):
        name = request.groups[0].group_id
        group = OffsetFetchResponseGroup(group_id=name, topics=[], error_code=69)
        return OffsetFetchResponse(groups=[group])

    found, _ = asked(lambda cluster: committed_offsets(cluster, "g"), group(OFFSET_FETCH=absent))
    assert found == {}


def test_brokers_that_are_too_old_are_told_so() -> None:
    scripts = group() | {ApiKey.API_VERSIONS: lambda _request, _version: versions(OffsetFetch=7)}
    with pytest.raises(NotSpokenError, match="too old"):
        asked(lambda cluster: committed_offsets(cluster, "g"), scripts)
