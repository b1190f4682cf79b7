from __future__ import annotations

import pytest

from quire.config.broker.cleaner import CleanerSection
from quire.config.values import ConfigError


def test_half_of_a_log_must_be_dirty_by_default() -> None:
    assert CleanerSection.of({}).log_cleaner_min_cleanable_ratio == 0.5
    with pytest.raises(ConfigError, match="from 0 to 1"):
        CleanerSection.of({"log.cleaner.min.cleanable.ratio": "1.1"})
