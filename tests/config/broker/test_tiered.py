from __future__ import annotations

import pytest

from quire.config.broker.tiered import TieredSection
from quire.config.values import ConfigError


def test_remote_storage_is_off_by_default() -> None:
    tiered = TieredSection.of({})
    assert not tiered.remote_log_storage_system_enable
    assert tiered.log_local_retention_ms == -2


def test_a_plug_in_has_a_name() -> None:
    with pytest.raises(ConfigError, match="a text that is not empty"):
        TieredSection.of({"remote.log.storage.manager.class.name": ""})
