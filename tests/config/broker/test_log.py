from __future__ import annotations

import pytest

from quire.config.broker.log import FLUSH, JITTER, RETENTION, ROLL, LogSection
from quire.config.values import ConfigError


def test_every_synonym_is_a_setting_of_the_log() -> None:
    names = [one.name for one in (*RETENTION, *ROLL, *JITTER, *FLUSH)]
    assert [name for name in names if name not in LogSection.declared] == []


def test_a_segment_is_at_least_one_mebibyte() -> None:
    assert LogSection.of({"log.segment.bytes": "1048576"}).log_segment_bytes == 1 << 20
    with pytest.raises(ConfigError, match=r"log.segment.bytes is '1048575', but must be at least"):
        LogSection.of({"log.segment.bytes": "1048575"})


def test_an_empty_policy_is_a_policy() -> None:
    assert LogSection.of({"log.cleanup.policy": ""}).log_cleanup_policy == ()
