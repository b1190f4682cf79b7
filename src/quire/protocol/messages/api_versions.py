"""ApiVersions (key 18)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, field, message, structure


@message(key=18, versions=(0, 4), flexible=3)
class ApiVersionsRequest:
    """What do you speak? v3 names the client's software (KIP-511)."""

    client_software_name: str = field(since=3, default="", ignorable=True)
    client_software_version: str = field(since=3, default="", ignorable=True)


@structure
class ApiVersion:
    api_key: Int16
    min_version: Int16
    max_version: Int16


@structure
class SupportedFeatureKey:
    name: str
    min_version: Int16
    max_version: Int16


@structure
class FinalizedFeatureKey:
    name: str
    max_version_level: Int16
    min_version_level: Int16


@message(key=18, versions=(0, 4), flexible=3)
class ApiVersionsResponse:
    """Version ranges by API, and feature levels in tags (KIP-584); its header never becomes
    flexible. v4 lists features from level 0.
    """

    error_code: Int16
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = field(
        since=3, tag=0, default=[], ignorable=True
    )
    finalized_features_epoch: Int64 = field(since=3, tag=1, default=-1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field(
        since=3, tag=2, default=[], ignorable=True
    )
    zk_migration_ready: Bool = field(since=3, tag=3, default=False, ignorable=True)
