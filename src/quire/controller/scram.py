"""SCRAM credentials: the password never arrives, and what arrives is not kept.

A client sends a salted password; stored are the two keys that follow from it (RFC 5802).

Invariants
  I1  A user has at most one change in a request.
Not here   the exchange with a client (security).
See        KIP-554, KIP-900
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.errors import ErrorCode
from quire.metadata.features import SCRAM_LEVEL
from quire.metadata.image import ScramKey
from quire.metadata.records import Message
from quire.protocol.messages import alter_user_scram_credentials as scram
from quire.protocol.messages.metadata_records import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

HASHES: Final = {1: "sha256", 2: "sha512"}
"""Mechanism -> its hash: SCRAM-SHA-256 and SCRAM-SHA-512."""
ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384


def alter(turn: Turn, request: scram.AlterUserScramCredentialsRequest) -> Decision:
    """Put and delete credentials."""
    users = [one.name for one in request.deletions] + [one.name for one in request.upsertions]
    times = Counter(users)
    messages: list[Message] = []
    results = []
    for user in dict.fromkeys(users):
        outcome = _change(turn, request, user, times[user])
        refusal = outcome if isinstance(outcome, Refusal) else None
        if not isinstance(outcome, Refusal):
            messages.append(outcome)
        results.append(
            scram.AlterUserScramCredentialsResult(
                user=user,
                error_code=refusal.code if refusal else 0,
                error_message=(refusal.message or refusal.code.text) if refusal else None,
            )
        )
    response = scram.AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)
    return Decision(turn.records(messages), response)


def _change(
    turn: Turn, request: scram.AlterUserScramCredentialsRequest, user: str, times: int
) -> Message | Refusal:
    if turn.image.metadata_version < SCRAM_LEVEL:
        return Refusal(
            ErrorCode.UNSUPPORTED_VERSION,
            "The current metadata version does not support SCRAM credentials.",
        )
    if not user:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if times > 1:
        return Refusal(
            ErrorCode.DUPLICATE_RESOURCE,
            "A user credential cannot be altered twice in the same request",
        )
    for deletion in request.deletions:
        if deletion.name == user:
            return _deletion(turn, deletion)
    upsertion = next(one for one in request.upsertions if one.name == user)
    return _upsertion_error(upsertion) or credential(upsertion)


def _deletion(turn: Turn, deletion: scram.ScramCredentialDeletion) -> Message | Refusal:
    if deletion.mechanism not in HASHES:
        return Refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if ScramKey(deletion.mechanism, deletion.name) not in turn.image.scram:
        return Refusal(
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        )
    return RemoveUserScramCredentialRecord(name=deletion.name, mechanism=deletion.mechanism)


def _upsertion_error(upsertion: scram.ScramCredentialUpsertion) -> Refusal | None:
    if upsertion.mechanism not in HASHES:
        return Refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if upsertion.iterations < ITERATIONS_MIN:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if upsertion.iterations > ITERATIONS_MAX:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if not upsertion.salted_password:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Salted password must not be empty")
    return None


def credential(upsertion: scram.ScramCredentialUpsertion) -> UserScramCredentialRecord:
    """What a server keeps: the hash of the client's key, and its own key."""
    algorithm = HASHES[upsertion.mechanism]
    client_key = hmac.digest(upsertion.salted_password, b"Client Key", algorithm)
    return UserScramCredentialRecord(
        name=upsertion.name,
        mechanism=upsertion.mechanism,
        salt=upsertion.salt,
        stored_key=hashlib.new(algorithm, client_key).digest(),
        server_key=hmac.digest(upsertion.salted_password, b"Server Key", algorithm),
        iterations=upsertion.iterations,
    )
