"""DescribeUserScramCredentials (key 50)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, message, structure


@structure
class UserName:
    name: str


@message(key=50, versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsRequest:
    """Which SCRAM credentials users have (KIP-554)."""

    users: list[UserName] | None


@structure
class CredentialInfo:
    mechanism: Int8
    iterations: Int32


@structure
class DescribeUserScramCredentialsResult:
    user: str
    error_code: Int16
    error_message: str | None
    credential_infos: list[CredentialInfo]


@message(key=50, versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsResponse:
    """Mechanisms and iteration counts, never secrets."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]
