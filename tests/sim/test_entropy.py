from __future__ import annotations

from quire.sim.entropy import SeededEntropy


def _draws(entropy: SeededEntropy) -> list[int]:
    return [entropy.below(1000) for _ in range(20)]


def test_a_seed_replays_its_draws() -> None:
    assert _draws(SeededEntropy(7)) == _draws(SeededEntropy(7))
    assert SeededEntropy(7).bytes(9) == SeededEntropy(7).bytes(9)
    assert _draws(SeededEntropy(7)) != _draws(SeededEntropy(8))


def test_a_stream_does_not_depend_on_draws_from_its_source() -> None:
    source = SeededEntropy(7)
    before = _draws(source.stream("disk"))
    source.below(10)
    assert _draws(source.stream("disk")) == before
    assert _draws(source.stream("network")) != before


def test_one_in_is_true_about_that_often() -> None:
    entropy = SeededEntropy(1)
    assert 50 < sum(entropy.one_in(10) for _ in range(1000)) < 150
    assert entropy.one_in(1)
