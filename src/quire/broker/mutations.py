"""Creating, growing and deleting topics under a client's limit of changes.

The limit counts partitions that are made or removed. Where there is none, nothing below is done.

Invariants
  I1  What the controller would refuse anyhow takes nothing of the limit.
  I2  In versions that know THROTTLING_QUOTA_EXCEEDED, a topic that the limit has no room for is refused and not
      changed; older ones are only slowed down.
  I3  The topics of a request are counted in its order.
Not here   the arithmetic (quotas), what is changed (the controller).
See        KIP-599
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from quire.broker.broker import Broker
from quire.broker.call import Call

T = TypeVar("T")


class Allowance:
    """What one request has taken of its client's limit, and how long it is throttled."""

    def __init__(self, broker: Broker, call: Call, *, is_strict: bool) -> None:
        self._broker = broker
        self._call = call
        self._is_strict = is_strict
        self.throttle_ms = 0

    def take(self, partitions: int) -> bool:
        """Whether so many partitions may be changed (I2)."""
        throttle_ms = self._broker.quotas.mutated(
            self._call.client, self._call.client_id, partitions, strict=self._is_strict
        )
        self.throttle_ms = max(self.throttle_ms, throttle_ms)
        return not (self._is_strict and throttle_ms)

    def split(self, wanted: Iterable[tuple[T, int]]) -> tuple[list[T], list[T]]:
        """Those that may be changed, and those that may not; each comes with its partitions."""
        allowed: list[T] = []
        refused: list[T] = []
        for one, partitions in wanted:
            (allowed if self.take(partitions) else refused).append(one)
        return allowed, refused
