from __future__ import annotations

import pytest

from quire.config.broker.share import ShareSection
from quire.config.values import ConfigError


def test_a_record_is_delivered_five_times_by_default_and_twice_at_least() -> None:
    assert ShareSection.of({}).group_share_delivery_count_limit == 5
    with pytest.raises(ConfigError, match="from 2 to 10"):
        ShareSection.of({"group.share.delivery.count.limit": "1"})
