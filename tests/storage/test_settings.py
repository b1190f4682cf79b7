"""The defaults are those of Apache Kafka 4.3."""

import dataclasses

import pytest

from quire.storage.settings import NEVER, LogSettings


def test_defaults_are_kafkas():
    settings = LogSettings()
    assert settings.segment_bytes == 1_073_741_824
    assert settings.segment_ms == settings.retention_ms == 7 * 24 * 3600 * 1000
    assert settings.segment_index_bytes == 10_485_760
    assert (settings.retention_bytes, settings.flush_messages) == (-1, NEVER)
    assert settings.cleanup_policy_delete
    assert not settings.fsync_before_ack
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.segment_bytes = 1
