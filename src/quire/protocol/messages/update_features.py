"""UpdateFeatures (key 57)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, field, message, structure


@structure
class FeatureUpdateKey:
    feature: str
    max_version_level: Int16
    allow_downgrade: Bool = field(until=0, default=False)
    upgrade_type: Int8 = field(since=1, default=1)


@message(key=57, versions=(0, 2), flexible=0)
class UpdateFeaturesRequest:
    """Change finalized feature levels (KIP-584). v1 dry run and downgrade kinds (KIP-778)."""

    timeout_ms: Int32 = field(default=60000)
    feature_updates: list[FeatureUpdateKey]
    validate_only: Bool = field(since=1, default=False)


@structure
class UpdatableFeatureResult:
    feature: str
    error_code: Int16
    error_message: str | None


@message(key=57, versions=(0, 2), flexible=0)
class UpdateFeaturesResponse:
    """What became of each feature; since v2 one error for all."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[UpdatableFeatureResult] = field(until=1, default=[], ignorable=True)
