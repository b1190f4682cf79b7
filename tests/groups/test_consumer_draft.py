from __future__ import annotations

from tests.groups.consumer_world import topic_id

from quire.coordination import KeyValue
from quire.groups.consumer_draft import Draft, tombstones
from quire.groups.consumer_states import STABLE
from quire.groups.consumer_stored import ConsumerStored
from quire.groups.consumer_values import Holding, Matched, Wishes
from quire.groups.keys import group_of, type_of
from quire.groups.stored import Stored

T = topic_id("t")


def changed(draft: Draft) -> None:
    draft.put_member(Wishes("a", pattern="t.*"))
    draft.put_member(Wishes("b", instance_id="i", topics=("t",)))
    draft.put_pattern("t.*", Matched(("t",), 4, 5))
    draft.put_epoch(2, 77)
    draft.put_target("a", {T: (0,)})
    draft.put_target("b", {T: (1,)})
    draft.put_target_epoch(2, 1_000)
    draft.put_holding("a", Holding(2, 0, STABLE, {T: {0: 2}}))
    draft.put_holding("b", Holding(2, 0, STABLE, {T: {1: 2}}))
    draft.remove_member("a")
    draft.remove_pattern("t.*")


def replayed(records: list[KeyValue]) -> Stored:
    stored = Stored()
    for number, record in enumerate(records):
        stored.replay(record, number, None)
    return stored


def test_replaying_the_records_gives_what_the_draft_shows() -> None:
    before = ConsumerStored()
    draft = Draft("g", before, [])
    changed(draft)
    assert before == ConsumerStored()
    assert replayed(draft.records).consumers == {"g": draft.now}
    draft.now.check()


def test_a_member_s_end_is_written_from_what_it_holds_to_what_it_wants() -> None:
    draft = Draft("g", ConsumerStored(), [])
    draft.put_member(Wishes("a"))
    draft.records.clear()
    draft.remove_member("a")
    assert [type_of(key) for key, _ in draft.records] == [8, 7, 5]
    assert all(value is None for _, value in draft.records)


def test_the_tombstones_of_a_group_leave_nothing_of_it_and_its_epoch_goes_last() -> None:
    draft = Draft("g", ConsumerStored(), [])
    changed(draft)
    draft.put_pattern("t.*", Matched((), 4, 5))
    gone = tombstones("g", draft.now)
    assert [type_of(key) for key, _ in gone] == [8, 7, 6, 5, 16, 4, 3]
    assert {group_of(key) for key, _ in gone} == {"g"}
    assert replayed([*draft.records, *gone]).consumers == {}
