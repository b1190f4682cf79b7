from __future__ import annotations

from quire.config.broker.own import OwnSection


def test_our_own_settings_cannot_be_mistaken_for_kafkas() -> None:
    assert [name for name in OwnSection.declared if not name.startswith("quire.")] == []


def test_nothing_of_our_own_is_on_by_default() -> None:
    assert not OwnSection.of({}).quire_log_fsync_before_ack
