from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.controller.partition_change import Election, Rules, Wish, change_of
from quire.metadata.delta import changed_partition
from quire.metadata.image import NO_LEADER, RECOVERING, Partition

TOPIC_ID = b"t" * 16


def rules(*alive, elr=True, minimum=1, level=30):
    return Rules(
        metadata_version=level,
        with_elr=elr,
        min_insync_replicas=minimum,
        may_lead=lambda one: one in alive,
        default_directory=lambda one: bytes([one]) * 16,
    )


def partition(replicas, isr=None, **more):
    isr = replicas if isr is None else isr
    values = {"leader": isr[0] if isr else NO_LEADER, "leader_epoch": 5, "partition_epoch": 9}
    directories = tuple(bytes([one]) * 16 for one in replicas)
    return Partition(tuple(replicas), tuple(isr), directories=directories, **(values | more))


def after(before, wish, law):
    record = change_of(TOPIC_ID, 0, before, wish, law)
    return before if record is None else changed_partition(before, record)


def test_a_wish_for_what_is_gives_no_record():
    before = partition([1, 2, 3])
    assert change_of(TOPIC_ID, 0, before, Wish(), rules(1, 2, 3)) is None
    assert change_of(TOPIC_ID, 0, before, Wish(isr=(1, 2, 3)), rules(1, 2, 3)) is None


def test_a_leader_that_can_stay_stays():
    found = after(partition([1, 2, 3], leader=2), Wish(isr=(2, 3)), rules(1, 2, 3))
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (2, 5, 10)


def test_the_first_replica_in_sync_and_alive_follows():
    found = after(partition([1, 2, 3], (1, 3, 2)), Wish(isr=(3, 2)), rules(2, 3))
    assert (found.leader, found.leader_epoch, found.isr) == (2, 6, (3, 2))


def test_the_preferred_leader_leads_when_it_is_in_sync():
    before = partition([1, 2], leader=2)
    assert after(before, Wish(election=Election.PREFERRED), rules(1, 2)).leader == 1
    behind = partition([1, 2], (2,))
    assert after(behind, Wish(election=Election.PREFERRED), rules(1, 2)) == behind


def test_leaving_below_the_minimum_makes_eligible_and_returning_ends_it():
    law = rules(1, 2, 3, minimum=2)
    alone = after(partition([1, 2, 3], (1, 3)), Wish(isr=(1,)), law)
    assert (alone.isr, alone.elr) == ((1,), (3,))
    back = after(alone, Wish(isr=(1, 2)), law)
    assert (back.isr, back.elr, back.last_known_elr) == ((1, 2), (), ())


def test_the_last_one_to_leave_is_remembered():
    none = after(partition([1, 2], (1,), elr=(2,)), Wish(isr=()), rules(minimum=2))
    assert (none.leader, none.isr, none.elr) == (NO_LEADER, (), (2, 1))
    assert none.last_known_elr == (1,)


def test_who_is_eligible_leads_cleanly_and_alone():
    before = partition([1, 2, 3], (), elr=(3,), last_known_elr=(1,))
    found = after(before, Wish(), rules(1, 2, 3))
    assert (found.leader, found.isr, found.elr) == (3, (3,), ())
    assert found.leader_recovery_state == 0


def test_the_last_known_leader_leads_and_recovers_where_nobody_is_eligible():
    before = partition([1, 2], (), last_known_elr=(2,))
    assert after(before, Wish(), rules(1)).leader == NO_LEADER
    found = after(before, Wish(), rules(1, 2))
    assert (found.leader, found.isr, found.leader_recovery_state) == (2, (2,), RECOVERING)


def test_an_unclean_shutdown_is_no_longer_eligible():
    before = partition([1, 2], (1,), elr=(2,))
    found = after(before, Wish(unclean_shutdown=frozenset({2})), rules(1, minimum=2))
    assert (found.isr, found.elr) == ((1,), ())


def test_without_elr_the_last_in_sync_stays_and_only_unclean_elections_help():
    law = rules(2, elr=False)
    before = partition([1, 2], (1,))
    found = after(before, Wish(isr=()), law)
    assert (found.leader, found.isr) == (NO_LEADER, (1,))
    unclean = after(found, Wish(election=Election.UNCLEAN), law)
    assert (unclean.leader, unclean.isr) == (2, (2,))
    assert unclean.leader_recovery_state == RECOVERING


def test_a_shrink_raised_the_leader_epoch_before_level_12():
    before = partition([1, 2])
    assert after(before, Wish(isr=(1,)), rules(1, 2, elr=False, level=11)).leader_epoch == 6
    assert after(before, Wish(isr=(1,)), rules(1, 2, elr=False, level=12)).leader_epoch == 5


def test_a_move_is_done_when_all_that_stay_are_in_sync():
    law = rules(1, 2, 3)
    start = Wish(replicas=(3, 1, 2), removing_replicas=(1, 2), adding_replicas=(3,))
    moving = after(partition([1, 2]), start, law)
    assert (moving.replicas, moving.leader, moving.leader_epoch) == ((3, 1, 2), 1, 5)
    assert moving.directories[0] == bytes([3]) * 16
    done = after(moving, Wish(isr=(1, 2, 3)), law)
    assert (done.replicas, done.isr, done.leader, done.leader_epoch) == ((3,), (3,), 3, 6)
    assert not done.is_reassigning
    assert done.directories == (bytes([3]) * 16,)


def test_a_leader_that_loses_another_replica_is_told_by_its_epoch():
    before = partition([1, 2, 3], (1, 2, 3))
    found = after(before, Wish(replicas=(1, 2), isr=(1, 2)), rules(1, 2, 3))
    assert (found.leader, found.leader_epoch) == (1, 6)


NODES = st.integers(1, 4)


@given(
    replicas=st.lists(NODES, min_size=1, max_size=4, unique=True),
    data=st.data(),
    alive=st.sets(NODES),
    elr=st.booleans(),
    minimum=st.integers(1, 3),
    election=st.sampled_from(Election),
)
def test_whatever_is_wished_a_leader_is_alive_and_in_sync(
    replicas, data, alive, elr, minimum, election
):
    isr = data.draw(st.lists(st.sampled_from(replicas), min_size=not elr, unique=True))
    leader = data.draw(st.sampled_from([NO_LEADER, *isr]))
    rest = [one for one in replicas if one not in isr]
    eligible = data.draw(st.lists(st.sampled_from(rest), unique=True)) if rest and elr else []
    before = partition(replicas, isr, leader=leader, elr=tuple(eligible))
    target = [one for one in isr if data.draw(st.booleans())]
    law = rules(*alive, elr=elr, minimum=minimum)
    found = after(before, Wish(isr=tuple(target), election=election), law)
    assert found.leader == NO_LEADER or found.leader in found.isr
    assert found.leader == NO_LEADER or found.leader in alive
    assert not set(found.isr) & set(found.elr)
    assert set(found.isr) | set(found.elr) <= set(replicas)
    assert elr or found.isr
    assert found.leader_epoch - before.leader_epoch in (0, 1)
    if found.leader != before.leader:
        assert found.leader_epoch == before.leader_epoch + 1
    if elr and len(found.isr) >= min(minimum, len(replicas)):
        assert found.elr == ()
    assert after(found, Wish(election=election), law) == found, "once decided, decided"
