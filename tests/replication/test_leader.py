from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.errors import ErrorCode
from quire.replication.leader import ACKS_ALL, AlterPartition, Leader, Role

LAG_MS = 30_000
ACTIVE = {1: 11, 2: 12, 3: 13}


def leader(
    replicas: tuple[int, ...] = (1,),
    *,
    isr: tuple[int, ...] | None = None,
    min_isr: int = 1,
    leo: int = 0,
    hw: int = 0,
) -> Leader:
    role = Role(5, 7, replicas if isr is None else isr, replicas)
    made = Leader(
        1,
        role,
        log_end_offset=leo,
        high_watermark=hw,
        min_insync_replicas=min_isr,
        replica_lag_ms=LAG_MS,
        now_ms=0,
    )
    made.on_brokers(ACTIVE)
    made.check()
    return made


def fetch(one: Leader, replica: int, offset: int, now_ms: int = 0) -> AlterPartition | None:
    effect = one.on_follower_fetch(
        replica,
        fetch_offset=offset,
        log_start_offset=0,
        broker_epoch=ACTIVE[replica],
        now_ms=now_ms,
    )
    one.check()
    return effect


def test_alone_every_append_is_safe_at_once() -> None:
    one = leader()
    assert one.on_appended(10, 0) == 10
    assert one.acknowledged(10) is ErrorCode.NONE
    assert one.acknowledged(11) is None
    one.check()


def test_a_leader_that_takes_over_alone_shows_everything_it_has() -> None:
    assert leader(leo=42, hw=7).high_watermark == 42


def test_the_high_watermark_waits_for_the_slowest_in_sync() -> None:
    one = leader((1, 2, 3))
    one.on_appended(10, 0)
    assert one.high_watermark == 0
    fetch(one, 2, 10)
    assert one.high_watermark == 0
    fetch(one, 3, 4)
    assert one.high_watermark == 4
    fetch(one, 3, 10)
    assert one.high_watermark == 10


def test_requests_of_other_epochs_are_not_served() -> None:
    one = leader()
    assert one.check_epoch(-1) is ErrorCode.NONE
    assert one.check_epoch(5) is ErrorCode.NONE
    assert one.check_epoch(4) is ErrorCode.FENCED_LEADER_EPOCH
    assert one.check_epoch(6) is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_below_min_isr_nothing_new_is_visible_and_acks_all_is_refused() -> None:
    one = leader((1, 2), isr=(1,), min_isr=2)
    assert one.admit(ACKS_ALL) is ErrorCode.NOT_ENOUGH_REPLICAS
    assert one.admit(1) is ErrorCode.NONE
    assert one.on_appended(10, 0) == 0
    assert one.on_settings(min_insync_replicas=1, replica_lag_ms=LAG_MS, now_ms=LAG_MS * 2) == 10
    one.check()


def test_min_isr_cannot_demand_more_than_all_replicas() -> None:
    one = leader(min_isr=3)
    assert one.admit(ACKS_ALL) is ErrorCode.NONE
    assert one.on_appended(3, 0) == 3


def test_who_lags_too_long_leaves_once_the_controller_has_agreed() -> None:
    one = leader((1, 2, 3))
    one.on_appended(10, 0)
    fetch(one, 2, 10, 1)
    fetch(one, 3, 4, 1)
    fetch(one, 2, 10, LAG_MS)
    assert one.on_time(LAG_MS) is None
    assert one.on_time(LAG_MS + 1) == AlterPartition(((1, 11), (2, 12)), 5, 7)
    assert one.high_watermark == 4
    assert one.on_time(LAG_MS * 2) is None  # one change at a time
    assert one.on_altered((1, 2), 8, LAG_MS + 2) == 10
    assert one.is_under_replicated
    one.check()


def test_who_has_caught_up_joins_and_counts_before_the_answer() -> None:
    one = leader((1, 2), isr=(1,))
    one.on_appended(10, LAG_MS * 2)
    assert one.high_watermark == 10
    assert fetch(one, 2, 9, LAG_MS * 2) is None
    assert fetch(one, 2, 10, LAG_MS * 2) == AlterPartition(((1, 11), (2, 12)), 5, 7)
    one.on_appended(20, LAG_MS * 4)
    assert one.high_watermark == 10
    one.on_alter_refused(ErrorCode.INELIGIBLE_REPLICA, LAG_MS * 4)
    assert one.pending is None
    assert one.high_watermark == 20


def test_a_stale_picture_keeps_the_change_pending_until_the_metadata_comes() -> None:
    one = leader((1, 2), isr=(1,))
    fetch(one, 2, 0)
    assert one.pending == (1, 2)
    one.on_alter_refused(ErrorCode.INVALID_UPDATE_VERSION, 0)
    assert one.pending == (1, 2)
    one.on_role(Role(5, 9, (1,), (1, 2)), 0)
    assert one.pending is None
    assert one.partition_epoch == 9


def test_fenced_brokers_and_other_incarnations_do_not_join() -> None:
    one = leader((1, 2), isr=(1,))
    one.on_brokers({1: 11})
    assert fetch(one, 2, 0) is None
    one.on_brokers({1: 11, 2: 99})
    assert fetch(one, 2, 0) is None


def test_an_append_may_outlive_its_replicas() -> None:
    one = leader((1, 2), min_isr=2)
    one.on_appended(5, 0)
    fetch(one, 2, 5)
    one.on_role(Role(5, 8, (1,), (1, 2)), 0)
    assert one.acknowledged(5) is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_the_latest_offset_is_not_known_before_the_epoch_start_is_reached() -> None:
    one = leader((1, 2), leo=10, hw=6)
    assert not one.knows_latest(one.high_watermark)
    fetch(one, 2, 10)
    assert one.knows_latest(one.high_watermark)


def test_the_low_watermark_is_that_of_all_live_replicas() -> None:
    one = leader((1, 2, 3))
    fetch(one, 2, 0)
    fetch(one, 3, 0)
    assert one.low_watermark(9) == 0
    one.on_brokers({1: 11})
    assert one.low_watermark(9) == 9


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5)),
        st.tuples(st.just("fetch"), st.sampled_from([2, 3]), st.integers(0, 60)),
        st.tuples(st.just("time"), st.integers(0, LAG_MS)),
        st.tuples(st.just("agree")),
        st.tuples(st.just("refuse"), st.sampled_from(list(ErrorCode))),
        st.tuples(st.just("min"), st.integers(1, 3)),
    ),
    max_size=60,
)


@given(EVENTS)
def test_whatever_happens_the_high_watermark_is_safe_and_never_goes_back(
    events: list[tuple[object, ...]],
) -> None:
    one = leader((1, 2, 3))
    now_ms, ends = 0, {2: 0, 3: 0}
    for name, *rest in events:
        before, isr_before = one.high_watermark, set(one.isr)
        match name, rest:
            case "append", [int(count)]:
                one.on_appended(one.log_end_offset + count, now_ms)
            case "fetch", [int(replica), int(offset)]:
                ends[replica] = min(max(offset, ends[replica]), one.log_end_offset)
                fetch(one, replica, ends[replica], now_ms)
            case "time", [int(passed)]:
                now_ms += passed
                one.on_time(now_ms)
            case "agree", [] if one.pending is not None:
                one.on_altered(one.pending, one.partition_epoch + 1, now_ms)
            case "refuse", [ErrorCode() as error]:
                one.on_alter_refused(error, now_ms)
            case "min", [int(count)]:
                one.on_settings(min_insync_replicas=count, replica_lag_ms=LAG_MS, now_ms=now_ms)
        one.check()
        assert one.high_watermark >= before
        if one.high_watermark > before:  # whoever is in sync has it
            in_sync = isr_before & set(one.isr) - {1}
            assert all(ends[replica] >= one.high_watermark for replica in in_sync)
