from __future__ import annotations

import pytest

from quire.runtime.entropy import RealEntropy


def test_draws_stay_below_their_limit_and_reach_every_value() -> None:
    entropy = RealEntropy()
    assert {entropy.below(3) for _ in range(200)} == {0, 1, 2}
    with pytest.raises(ValueError):
        entropy.below(0)


def test_bytes_have_the_size_asked_for_and_differ() -> None:
    entropy = RealEntropy()
    assert len(entropy.bytes(16)) == 16
    assert entropy.bytes(16) != entropy.bytes(16)
