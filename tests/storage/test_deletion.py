"""Renamed at once, unlinked later, readable until then."""


def test_a_removed_segment_is_unlinked_after_its_delay_and_readable_meanwhile(tools):
    home = tools.Home(file_delete_delay_ms=100)
    log = home.open()
    home.fill(2)
    log.roll(now_ms=0)
    held = log.read(0, max_bytes=10_000, upper_bound_offset=6).records
    before = held.read()
    log.update_high_watermark(6)
    log.advance_log_start_offset(6, now_ms=1000)
    name = "00000000000000000000.log.deleted"
    assert name in home.names()
    assert log.deletions.due(1099) == []
    (deletion,) = log.deletions.due(1100)
    assert len(log.deletions) == 0
    assert held.read() == before
    deletion.run()
    deletion.run()
    assert not [found for found in home.names() if found.startswith("00000000000000000000")]
    assert held.read() == before
