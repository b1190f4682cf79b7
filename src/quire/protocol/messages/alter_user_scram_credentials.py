"""AlterUserScramCredentials (key 51)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, message, structure


@structure
class ScramCredentialDeletion:
    name: str
    mechanism: Int8


@structure
class ScramCredentialUpsertion:
    name: str
    mechanism: Int8
    iterations: Int32
    salt: bytes
    salted_password: bytes


@message(key=51, versions=(0, 0), flexible=0)
class AlterUserScramCredentialsRequest:
    """Put or delete SCRAM credentials (KIP-554)."""

    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]


@structure
class AlterUserScramCredentialsResult:
    user: str
    error_code: Int16
    error_message: str | None


@message(key=51, versions=(0, 0), flexible=0)
class AlterUserScramCredentialsResponse:
    """What became of each user."""

    throttle_time_ms: Int32
    results: list[AlterUserScramCredentialsResult]
