"""A whole log against a model: a list of what was appended, through rolls, cuts, restarts and crashes."""

from __future__ import annotations

import errno

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from quire.sim.disk import SimulatedCrash
from quire.storage.log_state import LogOfflineError
from quire.storage.lookup import OutOfRange


def machine(tools, *, unclean: bool):
    class LogMachine(RuleBasedStateMachine):
        """The model: the batches that must be there, as (base, next, values)."""

        @initialize(seed=st.integers(0, 2**16), segment_bytes=st.sampled_from([300, 900, 4000]))
        def begin(self, seed, segment_bytes):
            self.home = tools.Home(
                seed, segment_bytes=segment_bytes, index_interval_bytes=150, retention_ms=-1
            )
            self.log = self.home.open()
            self.batches = []
            self.start = self.durable = 0
            self.counter = 0

        @property
        def end(self):
            return self.batches[-1][1] if self.batches else self.start

        @rule(records=st.integers(1, 4), size=st.integers(0, 200), epoch=st.integers(0, 3))
        def append(self, records, size, epoch):
            self.counter += 1
            value = b"%d-" % self.counter + b"x" * size
            end = self.log.log_end_offset
            epoch = max(epoch, self.log.leader_epochs.latest_epoch)
            info = tools.append(self.log, tools.batch(records, value=value), leader_epoch=epoch)
            assert (info.first_offset, info.last_offset) == (end, end + records - 1)
            self.batches.append((end, end + records, value))

        @rule()
        def roll(self):
            self.log.roll(now_ms=tools.NOW_MS)

        @rule()
        def flush(self):
            self.log.flush(now_ms=tools.NOW_MS)
            self.durable = self.log.log_end_offset
            assert self.log.recovery_point == self.durable

        @rule(part=st.floats(0, 1))
        def truncate(self, part):
            offset = self.start + int((self.log.log_end_offset - self.start) * part)
            self.log.truncate_to(offset, now_ms=tools.NOW_MS)
            self.log.flush(now_ms=tools.NOW_MS)  # or a crash may bring back what was dropped
            self.batches = [batch for batch in self.batches if batch[1] <= offset]
            self.durable = self.log.log_end_offset
            self.start = self.log.log_start_offset

        @rule(gap=st.integers(0, 5))
        def restart_at_a_later_offset(self, gap):
            offset = self.log.log_end_offset + gap
            self.log.truncate_fully_and_start_at(offset, now_ms=tools.NOW_MS)
            self.batches, self.start, self.durable = [], offset, offset
            self.log.flush(now_ms=tools.NOW_MS)

        @rule(part=st.floats(0, 1))
        def delete_records(self, part):
            self.log.update_high_watermark(self.log.log_end_offset)
            offset = self.start + int((self.log.log_end_offset - self.start) * part)
            self.log.advance_log_start_offset(offset, now_ms=tools.NOW_MS)
            self.start = max(self.start, offset)
            self.batches = [batch for batch in self.batches if batch[1] > self.start]
            self.durable = max(self.durable, self.start)

        @rule()
        def stop_and_start(self):
            self.log = self.home.close_and_open()
            self.durable = self.log.log_end_offset
            assert self.log.recovery.is_sound

        @precondition(lambda _: unclean)
        @rule()
        def lose_power(self):
            self.log = self.home.crash_and_open()
            assert self.log.log_end_offset >= self.durable
            kept = self.log.log_end_offset
            assert kept in {self.start, *(batch[1] for batch in self.batches)}
            self.batches = [batch for batch in self.batches if batch[1] <= kept]

        @invariant()
        def holds_what_the_model_holds(self):
            self.log.check()
            found = [(r.offset, r.value) for r in tools.read_records(self.log, self.start)]
            assert found == [
                (offset, value)
                for base, after, value in self.batches
                for offset in range(base, after)
                if offset >= self.start
            ]

        @invariant()
        def finds_every_offset_where_a_linear_scan_does(self):
            for base, after, _ in self.batches:
                for offset in range(max(base, self.start), after):
                    result = self.log.read(offset, max_bytes=1, upper_bound_offset=tools.FAR)
                    data = result.records.read()
                    assert int.from_bytes(data[:8], "big") == base

    return LogMachine


@pytest.mark.parametrize("unclean", [False, True], ids=["clean stops", "power losses"])
def test_a_log_behaves_like_a_list_of_batches(tools, unclean):
    run_state_machine_as_test(
        machine(tools, unclean=unclean),
        settings=settings(
            max_examples=150,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def tell_story(tools, home):
    """Append, flush, truncate, close; the (flushed end, recovery point) known so far, step by step."""
    for number in range(8):
        tools.append(home.log, tools.producer_batch(3 * number, value=b"%d" % number))
        if number in (2, 5):
            home.log.flush(now_ms=tools.NOW_MS)
            yield home.log.recovery_point, home.log.recovery_point
    yield 15, 15  # from here on the truncation may have happened
    home.log.truncate_to(15, now_ms=tools.NOW_MS)
    home.log.close(now_ms=tools.NOW_MS)


@pytest.mark.parametrize("seed", range(5))
def test_power_lost_in_any_operation_loses_nothing_that_was_flushed(tools, seed):
    for struck_at in range(200):
        home = tools.Home(1000 * seed + struck_at, segment_bytes=600, index_interval_bytes=100)
        home.open()
        known = (0, 0)
        home.disk.faults.fail_after(operations=struck_at)
        try:
            for step in tell_story(tools, home):
                known = step
        except SimulatedCrash:
            home.disk = home.disk.crash()
        else:
            assert struck_at > 30
            return
        flushed, point = known
        log = home.open(recovery_point=point)
        assert log.log_end_offset >= flushed
        values = [record.value for record in tools.read_records(log)]
        assert values == [b"%d" % (n // 3) for n in range(log.log_end_offset)]
        if log.log_end_offset:
            assert log.producers.get(7).last_sequence == log.log_end_offset - 1
    pytest.fail("the story never came to its end")


def test_a_closed_log_that_is_opened_goes_on_with_the_next_offset(tools, home):
    home.open()
    home.fill(4)
    log = home.close_and_open()
    info = tools.append(log, tools.batch(2))
    assert (info.first_offset, info.last_offset) == (12, 13)


def test_the_ends_of_an_epoch_are_known(tools, home):
    log = home.open()
    for epoch in (1, 1, 4):
        tools.append(log, tools.batch(), leader_epoch=epoch)
    assert log.end_offset_for_epoch(1) == (1, 6)
    assert log.end_offset_for_epoch(3) == (1, 6)
    assert log.end_offset_for_epoch(4) == (4, 9)
    assert log.end_offset_for_epoch(5) == (-1, -1)


def test_the_high_watermark_stays_between_the_ends(tools, home):
    log = home.open()
    home.fill(3)
    assert log.update_high_watermark(5) == 5
    assert log.update_high_watermark(100) == 9
    log.advance_log_start_offset(4, now_ms=tools.NOW_MS)
    assert log.update_high_watermark(1) == 4


def test_after_a_failed_flush_the_log_serves_nothing(tools, home):
    log = home.open()
    home.fill(1)
    home.disk.faults.break_path(home.directory)
    with pytest.raises(OSError, match="simulated") as caught:
        log.flush(now_ms=tools.NOW_MS)
    assert caught.value.errno == errno.EIO
    home.disk.faults.heal_path(home.directory)
    with pytest.raises(LogOfflineError):
        tools.append(log, tools.batch())
    with pytest.raises(LogOfflineError):
        log.read(0, max_bytes=1, upper_bound_offset=9)
    log.close(now_ms=tools.NOW_MS)
    assert "00000000000000000003.snapshot" not in home.names()


def test_an_offset_outside_the_log_is_a_value(home):
    log = home.open(log_start_offset=5)
    home.fill(1)
    for offset in (4, 9):
        assert log.read(offset, max_bytes=9, upper_bound_offset=99) == OutOfRange(offset, 5, 8)
    assert log.read(8, max_bytes=9, upper_bound_offset=99).records.size == 0
