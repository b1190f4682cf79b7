"""DescribeUserScramCredentials: which users have credentials of which mechanism, never what they are.

Null, and an empty list too, ask for all users.

Versions   0
See        KIP-554
"""

from __future__ import annotations

from collections import Counter

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.metadata.image import Image
from quire.protocol.messages import describe_user_scram_credentials as scram


def handle(broker: Broker, call: Call) -> scram.DescribeUserScramCredentialsResponse:
    """Answer; see the module."""
    request: scram.DescribeUserScramCredentialsRequest = call.request
    if request.users:
        times = Counter(one.name for one in request.users)
    else:
        times = Counter({key.name: 1 for key in broker.image.scram})
    return scram.DescribeUserScramCredentialsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message="",
        results=[_user(broker.image, name, count) for name, count in times.items()],
    )


def _user(image: Image, name: str, times: int) -> scram.DescribeUserScramCredentialsResult:
    if times > 1:
        code, message = ErrorCode.DUPLICATE_RESOURCE, f"user {name} is named twice"
        return _result(name, code, message, [])
    found = [
        scram.CredentialInfo(mechanism=key.mechanism, iterations=credential.iterations)
        for key, credential in image.scram.items()
        if key.name == name
    ]
    if not found:
        code, message = ErrorCode.RESOURCE_NOT_FOUND, f"user {name} has no credential"
        return _result(name, code, message, [])
    return _result(name, ErrorCode.NONE, "", found)


def _result(
    name: str, code: ErrorCode, message: str, found: list[scram.CredentialInfo]
) -> scram.DescribeUserScramCredentialsResult:
    return scram.DescribeUserScramCredentialsResult(
        user=name, error_code=code, error_message=message, credential_infos=found
    )
