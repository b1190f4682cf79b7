"""What clients may use: bytes produced and fetched, time of the broker, changes of topics, connections.

A client is a user and a client id. The stored limits are looked for from the most special to the most general; what
is measured is everybody whom the found limit does not tell apart: a limit for a user is shared by all client ids of
that user, a default for users is not shared by users.

    limits = Quotas(clock);  limits.apply(image, layers)
    throttle_ms = limits.produced(client, client_id, size) if limits.active else 0

Bytes, time and connections are rates over sliding windows; changes of topics come out of a bucket of tokens.

Invariants
  I1  Precedence: (user, client id), (user, any), user, (any user, client id), (any, any), any user, client id, any id.
      Who has no client id is under limits of users only.
  I2  A rate's throttle is as long as it takes until the same amount, spread over its windows and the throttle, keeps
      the limit; for time and connections it is at most one window.
  I3  A bucket never holds more than the windows' worth; taking is possible while it is not below zero, and may bring
      it below.
  I4  What nobody used for all its windows is forgotten: memory follows those who are active.
Not here   muting (connection), which rights there are (security), replication's throttles.
See        KIP-13, KIP-55, KIP-124, KIP-219, KIP-546, KIP-599, KIP-612
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from math import floor
from typing import Final, NamedTuple

from quire.broker.call import Client
from quire.config.layers import BrokerLayers
from quire.metadata.image import Image
from quire.ports.clock import Clock

PRODUCE: Final = "producer_byte_rate"
FETCH: Final = "consumer_byte_rate"
TIME: Final = "request_percentage"
MUTATIONS: Final = "controller_mutation_rate"
CONNECTIONS: Final = "connection_creation_rate"

USER: Final = "user"
CLIENT_ID: Final = "client-id"
ADDRESS: Final = "ip"

ABSENT: Final = ""
"""The part of an entity that a limit does not speak of; a name is never empty."""
NS_PER_PERCENT: Final = 10_000_000
"""One percent of a second."""
REMEMBERED: Final = 10_000
"""Clients whose limits, and figures, are kept before the idle ones are looked for."""

Pair = tuple[str | None, str | None]
"""User and client id; None is the default for all of that kind, ABSENT that the limit does not speak of it."""


class Windows(NamedTuple):
    """Over how long a rate is measured."""

    number: int
    ms: int


class Rate:
    """An amount per second over sliding windows, as Kafka measures it: the last, partial window counts as it is."""

    __slots__ = ("_samples", "windows")

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self._samples: deque[list[float]] = deque()
        """[start, last event, amount], oldest first."""

    def add(self, amount: float, now_ms: int) -> None:
        if not self._samples or now_ms - self._samples[-1][0] >= self.windows.ms:
            self._samples.append([now_ms, now_ms, 0.0])
            if len(self._samples) > self.windows.number:
                self._samples.popleft()
        newest = self._samples[-1]
        newest[1] = now_ms
        newest[2] += amount

    def elapsed_ms(self, now_ms: int) -> float:
        """Over how long the amount is counted: at least all windows but one."""
        self._forget(now_ms)
        number, window_ms = self.windows
        elapsed = now_ms - self._samples[0][0] if self._samples else 0.0
        full = elapsed // window_ms
        if full < number - 1:
            elapsed += (number - 1 - full) * window_ms
        return elapsed or window_ms

    def per_second(self, now_ms: int) -> float:
        elapsed = self.elapsed_ms(now_ms)
        return sum(amount for _, _, amount in self._samples) * 1000 / elapsed

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """How long to wait for keeping `limit` (I2); 0 while it is kept."""
        over = self.per_second(now_ms) - limit
        return 0 if over <= 0 else floor(over / limit * self.elapsed_ms(now_ms) + 0.5)

    def is_idle(self, now_ms: int) -> bool:
        self._forget(now_ms)
        return not self._samples

    def _forget(self, now_ms: int) -> None:
        whole = self.windows.number * self.windows.ms
        while self._samples and now_ms - self._samples[0][1] >= whole:
            self._samples.popleft()


class Bucket:
    """Tokens that come at a rate; see I3."""

    __slots__ = ("_tokens", "_updated_ms", "windows")

    def __init__(self, windows: Windows, limit: float, now_ms: int) -> None:
        self.windows = windows
        self._tokens = self._most(limit)
        self._updated_ms = now_ms

    def take(self, count: float, limit: float, now_ms: int, *, strict: bool) -> int:
        """How long to wait: strictly, before `count` may be taken (it was not); else before the next may be."""
        since_ms = max(0, now_ms - self._updated_ms)
        self._tokens = min(self._most(limit), self._tokens + since_ms * limit / 1000)
        self._updated_ms = now_ms
        if strict and self._tokens < 0:
            return self._wait_ms(limit)
        self._tokens -= count
        return 0 if strict else self._wait_ms(limit)

    def is_idle(self, now_ms: int) -> bool:
        return now_ms - self._updated_ms >= self.windows.number * self.windows.ms

    def _most(self, limit: float) -> float:
        return limit * self.windows.number * self.windows.ms / 1000

    def _wait_ms(self, limit: float) -> int:
        return 0 if self._tokens >= 0 else floor(-self._tokens / limit * 1000 + 0.5)


class Limits:
    """The stored limits of one key, and who of the clients is under which (I1)."""

    __slots__ = ("_by_pair", "_found")

    def __init__(self) -> None:
        self._by_pair: dict[Pair, float] = {}
        self._found: dict[tuple[str, str], tuple[float, Pair] | None] = {}

    def __bool__(self) -> bool:
        return bool(self._by_pair)

    def store(self, pair: Pair, limit: float) -> None:
        self._by_pair[pair] = limit

    def of(self, user: str, client_id: str) -> tuple[float, Pair] | None:
        """The limit of a client, and with whom it shares it."""
        key = user, client_id
        if key not in self._found:
            if len(self._found) >= REMEMBERED:
                self._found.clear()
            self._found[key] = self._look_for(user, client_id)
        return self._found[key]

    def _look_for(self, user: str, client_id: str) -> tuple[float, Pair] | None:
        of_client_ids = (client_id, None, ABSENT) if client_id else (ABSENT,)
        pairs: list[Pair] = [(one, other) for one in (user, None) for other in of_client_ids]
        if client_id:
            pairs += [(ABSENT, client_id), (ABSENT, None)]
        for pair in pairs:
            limit = self._by_pair.get(pair)
            if limit is not None:
                shared_by = (
                    ABSENT if pair[0] == ABSENT else user,
                    ABSENT if pair[1] == ABSENT else client_id,
                )
                return limit, shared_by
        return None


class Quotas:
    """See the module."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._limits = {key: Limits() for key in (PRODUCE, FETCH, TIME, MUTATIONS)}
        self._addresses: dict[str | None, float] = {}
        self._windows = self._mutation_windows = Windows(11, 1000)
        self._rates: dict[Hashable, Rate] = {}
        self._buckets: dict[Hashable, Bucket] = {}
        self.active = False
        """Whether any limit is stored: nothing below need be asked while there is none."""

    def apply(self, image: Image, layers: BrokerLayers) -> None:
        """Take over the limits of an image."""
        settings = layers.settings
        self._windows = Windows(
            settings.quota_window_num, settings.quota_window_size_seconds * 1000
        )
        self._mutation_windows = Windows(
            settings.controller_quota_window_num,
            settings.controller_quota_window_size_seconds * 1000,
        )
        self._limits = {key: Limits() for key in self._limits}
        self._addresses = {}
        for entity, values in image.quotas.items():
            parts: Mapping[str, str | None] = dict(entity)
            if ADDRESS in parts:
                if CONNECTIONS in values:
                    self._addresses[parts[ADDRESS]] = values[CONNECTIONS]
                continue
            pair = parts.get(USER, ABSENT), parts.get(CLIENT_ID, ABSENT)
            for key, limit in values.items():
                if key in self._limits:
                    self._limits[key].store(pair, limit)
        self.active = bool(self._addresses) or any(self._limits.values())

    def produced(self, client: Client, client_id: str | None, size: int) -> int:
        """`size` bytes of produce requests came; for how many milliseconds the client is throttled."""
        return self._used(PRODUCE, client, client_id, size)

    def fetched(self, client: Client, client_id: str | None, size: int) -> int:
        """`size` bytes of records go to a client. A throttled answer goes without them: see `not_fetched`."""
        return self._used(FETCH, client, client_id, size)

    def not_fetched(self, client: Client, client_id: str | None, size: int) -> None:
        """What `fetched` counted was not sent after all."""
        self._used(FETCH, client, client_id, -size)

    def requested(self, client: Client, client_id: str | None, ns: int) -> int:
        """A request took `ns` of our time; at most one window of throttle."""
        throttle_ms = self._used(TIME, client, client_id, ns / NS_PER_PERCENT)
        return min(throttle_ms, self._windows.ms)

    def mutated(self, client: Client, client_id: str | None, count: int, *, strict: bool) -> int:
        """`count` partitions are to be made or removed.

        Strictly, a throttle above 0 means that they must not be; else it only slows the client down.
        """
        limits = self._limits[MUTATIONS]
        found = limits.of(_user(client), client_id or ABSENT) if limits else None
        if found is None:
            return 0
        limit, shared_by = found
        now_ms = self._clock.monotonic_ms()
        bucket = self._buckets.get(shared_by)
        if bucket is None or bucket.windows != self._mutation_windows:
            _make_room(self._buckets, now_ms)
            bucket = self._buckets[shared_by] = Bucket(self._mutation_windows, limit, now_ms)
        return bucket.take(count, limit, now_ms, strict=strict)

    def connected(self, host: str) -> int:
        """Somebody at `host` opens a connection; above 0, it must be closed, after that long."""
        if not self._addresses:
            return 0
        limit = self._addresses.get(host, self._addresses.get(None))
        if limit is None:
            return 0
        now_ms = self._clock.monotonic_ms()
        rate = self._rate((CONNECTIONS, host), now_ms)
        rate.add(1, now_ms)
        throttle_ms = min(rate.throttle_ms(limit, now_ms), self._windows.ms)
        if throttle_ms:
            rate.add(-1, now_ms)
        return throttle_ms

    def check(self) -> None:
        """Assert the invariants."""
        for kept in (self._rates, self._buckets):
            assert len(kept) <= 2 * REMEMBERED or not any(  # I4
                one.is_idle(self._clock.monotonic_ms()) for one in kept.values()
            )

    def _used(self, key: str, client: Client, client_id: str | None, amount: float) -> int:
        limits = self._limits[key]
        found = limits.of(_user(client), client_id or ABSENT) if limits else None
        if found is None:
            return 0
        limit, shared_by = found
        now_ms = self._clock.monotonic_ms()
        rate = self._rate((key, shared_by), now_ms)
        rate.add(amount, now_ms)
        return rate.throttle_ms(limit, now_ms)

    def _rate(self, key: Hashable, now_ms: int) -> Rate:
        rate = self._rates.get(key)
        if rate is None or rate.windows != self._windows:
            _make_room(self._rates, now_ms)
            rate = self._rates[key] = Rate(self._windows)
        return rate


def _user(client: Client) -> str:
    """The name in a principal: `User:alice`."""
    return client.principal.partition(":")[2]


def _make_room(kept: dict[Hashable, Rate] | dict[Hashable, Bucket], now_ms: int) -> None:
    """Forget the idle ones, each time that many more are kept (I4)."""
    if len(kept) and len(kept) % REMEMBERED == 0:
        for key in [key for key, one in kept.items() if one.is_idle(now_ms)]:
            del kept[key]
