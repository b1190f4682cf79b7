from __future__ import annotations

from quire.config.client_metrics import ClientMetricsSettings


def test_a_subscription_without_words_pushes_nothing_every_five_minutes() -> None:
    settings = ClientMetricsSettings.of({})
    assert (settings.metrics, settings.match, settings.interval_ms) == ((), (), 300_000)
