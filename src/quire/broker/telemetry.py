"""Which metrics clients are asked to push, and how often.

Operators store subscriptions (settings of client metrics): metrics, an interval, and patterns of clients. A client
is told what all subscriptions that match it say together; a number stands for it, so that a change is noticed.
What is pushed is checked and, there being no plugin that wants it, dropped.

Invariants
  I1  A client is known by its instance id on one connection; a bounded number is remembered, the latest ones.
  I2  A client asks, and pushes, at most once per interval; the first push after asking may come at any time.
  I3  After a push that says it is the last, none is taken.
Not here   storing subscriptions (controller.configs), codecs of metrics.
See        KIP-714
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from quire.broker.call import Call
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.layers import valid_values
from quire.errors import ErrorCode
from quire.metadata.image import CLIENT_METRICS, Image
from quire.ports.network import Address
from quire.records.checksum import crc32c
from quire.records.compression import Compression
from quire.types import uuid_to_text

REMEMBERED: Final = 16_384
DEFAULT_INTERVAL_MS: Final = 300_000
EVERYTHING: Final = "*"
CODECS: Final = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)
"""That pushes may be compressed with, the best first."""
LONG_AGO_MS: Final = -(2**62)


class Subscription(NamedTuple):
    """What one client is asked for."""

    number: int
    metrics: tuple[str, ...]
    interval_ms: int


class _Instance:
    """What is remembered of one client."""

    __slots__ = ("asked_ms", "is_last", "pushed_ms", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.asked_ms = self.pushed_ms = LONG_AGO_MS
        self.is_last = False


class Telemetry:
    """See the module."""

    def __init__(self) -> None:
        self._instances: dict[tuple[bytes, Address], _Instance] = {}

    def asked(
        self, call: Call, instance_id: bytes, image: Image, now_ms: int
    ) -> Subscription | ErrorCode:
        """A client asks what it shall push."""
        instance = self._instance(call, instance_id, image)
        since_ms = now_ms - max(instance.asked_ms, instance.pushed_ms)
        if since_ms < instance.subscription.interval_ms:
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED
        instance.asked_ms = now_ms
        return instance.subscription

    def pushed(
        self,
        call: Call,
        instance_id: bytes,
        image: Image,
        now_ms: int,
        *,
        number: int,
        is_last: bool,
    ) -> ErrorCode:
        """A client pushes; whether it may, now and for this subscription."""
        instance = self._instance(call, instance_id, image)
        was_last = instance.is_last
        instance.is_last = is_last
        if was_last:
            return ErrorCode.INVALID_REQUEST
        since_ms = now_ms - instance.pushed_ms
        may_push = (
            instance.asked_ms > instance.pushed_ms or since_ms >= instance.subscription.interval_ms
        )
        if may_push:
            instance.pushed_ms = now_ms
        elif not is_last:
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED
        if number != instance.subscription.number:
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        return ErrorCode.NONE

    def check(self) -> None:
        """Assert the invariants."""
        assert len(self._instances) <= REMEMBERED  # I1

    def _instance(self, call: Call, instance_id: bytes, image: Image) -> _Instance:
        key = instance_id, call.client.address
        instance = self._instances.pop(key, None)
        subscription = subscription_of(call, instance_id, image)
        if instance is None or instance.subscription != subscription:
            instance = _Instance(subscription)
        self._instances[key] = instance
        if len(self._instances) > REMEMBERED:
            del self._instances[next(iter(self._instances))]
        return instance


def subscription_of(call: Call, instance_id: bytes, image: Image) -> Subscription:
    """All that the subscriptions say that match a client."""
    attributes = {
        "client_instance_id": uuid_to_text(instance_id),
        "client_id": call.client_id or "",
        "client_software_name": call.client.software_name,
        "client_software_version": call.client.software_version,
        "client_source_address": call.client.address.host,
        "client_source_port": str(call.client.address.port),
    }
    metrics: dict[str, None] = {}
    interval_ms = DEFAULT_INTERVAL_MS
    for resource, texts in image.configs.items():
        if resource.resource_type != CLIENT_METRICS:
            continue
        settings = ClientMetricsSettings(valid_values(ClientMetricsSettings, texts))
        if _matches(settings, attributes):
            metrics |= dict.fromkeys(settings.metrics)
            interval_ms = min(interval_ms, settings.interval_ms)
    wanted = (EVERYTHING,) if EVERYTHING in metrics else tuple(metrics)
    return Subscription(_number(wanted, interval_ms, instance_id), wanted, interval_ms)


def _matches(settings: ClientMetricsSettings, attributes: Mapping[str, str]) -> bool:
    for item in settings.match:
        selector, _, pattern = (part.strip() for part in item.partition("="))
        if re.fullmatch(pattern, attributes.get(selector, "")) is None:
            return False
    return True


def _number(metrics: tuple[str, ...], interval_ms: int, instance_id: bytes) -> int:
    """A checksum of what is asked for, mixed with who is asked."""
    said = f"[{', '.join(metrics)}]{interval_ms}".encode()
    words = [int.from_bytes(instance_id[at : at + 4]) for at in range(0, 16, 4)]
    mixed = crc32c(said) ^ words[0] ^ words[1] ^ words[2] ^ words[3]
    return mixed - (1 << 32) if mixed >= 1 << 31 else mixed
