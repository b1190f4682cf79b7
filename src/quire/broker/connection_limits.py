"""How many connections there may be, in all, by listener and by address, and how fast new ones may come.

One for each broker; every listener asks the same one. Who comes too fast, or when the broker or the listener is full,
waits without being read, as in Apache Kafka's accept queue; who is one too many for his address is closed.

Invariants
  I1  What was admitted is counted until it is released, once.
  I2  A connection of an address above its bound is never admitted, whatever room there is.
Not here   closing and waiting (connection), idle ones (idle_wheel), quotas by address (quotas).
See        KIP-402, KIP-612
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from quire.broker.quotas import Rate, Windows

ANY_NUMBER: Final = 2**31 - 1
WINDOWS: Final = Windows(11, 1000)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one scope (the broker, or a listener) allows."""

    connections: int = ANY_NUMBER
    per_second: int = ANY_NUMBER


@dataclass(frozen=True, slots=True)
class AddressBounds:
    """What is allowed from one address."""

    any_address: int = ANY_NUMBER
    special: Mapping[str, int] = field(default_factory=dict)

    def of(self, host: str) -> int:
        return self.special.get(host, self.any_address)


def overrides(text: str) -> dict[str, int]:
    """`max.connections.per.ip.overrides`: address:count, by commas. Addresses may hold colons."""
    found = {}
    for part in text.split(","):
        host, _, count = part.strip().rpartition(":")
        if host:
            found[host] = int(count)
    return found


class ConnectionLimits:
    """See the module."""

    def __init__(self) -> None:
        self.total = 0
        self.by_listener: Counter[str] = Counter()
        self.by_host: Counter[str] = Counter()
        self._rates: dict[str, Rate] = {}

    def is_one_too_many(self, host: str, bounds: AddressBounds) -> bool:
        """Whether an address has all the connections that it may have (I2)."""
        return self.by_host[host] >= bounds.of(host)

    def has_room(self, listener: str, broker: Bounds, own: Bounds) -> bool:
        """Whether one more may be served by this listener."""
        return self.total < broker.connections and self.by_listener[listener] < own.connections

    def wait_ms(self, listener: str, broker: Bounds, own: Bounds, now_ms: int) -> int:
        """A connection comes: for how long it has to wait because of those before it."""
        wait = 0
        for scope, bounds in (("", broker), (listener, own)):
            if bounds.per_second < ANY_NUMBER:
                rate = self._rates.setdefault(scope, Rate(WINDOWS))
                rate.add(1, now_ms)
                wait = max(wait, rate.throttle_ms(max(bounds.per_second, 1), now_ms))
        return wait

    def admit(self, listener: str, host: str) -> None:
        """One more is there (I1)."""
        self.total += 1
        self.by_listener[listener] += 1
        self.by_host[host] += 1

    def release(self, listener: str, host: str) -> None:
        """It is gone (I1)."""
        self.total -= 1
        self.by_listener[listener] -= 1
        self.by_host[host] -= 1
        if not self.by_host[host]:
            del self.by_host[host]

    def check(self) -> None:
        """Assert the invariants."""
        assert self.total == self.by_listener.total() == self.by_host.total()  # I1
        assert all(count > 0 for count in self.by_host.values())
