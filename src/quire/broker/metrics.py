"""What a broker counts: plain numbers in slots, cheap where they are counted; no names, no text.

Counters only rise. Whoever shows them takes differences for rates, and asks the rooms themselves for what is a state
(how many partitions, how large a purgatory).

Invariants
  I1  `all_topics` has counted whatever any topic has counted.
  I2  A histogram knows a time to within an eighth of it, and its sum exactly.
Not here   names and text (exposition), the sizes of purgatories and sessions (their rooms know them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Self

_FINE_BITS: Final = 3
"""Eight steps between one power of two and the next."""
_FINE: Final = 1 << _FINE_BITS


class Times:
    """A histogram of durations in nanoseconds: (number, sum, largest), and quantiles."""

    __slots__ = ("_steps", "count", "largest_ns", "sum_ns")

    def __init__(self) -> None:
        self.count = 0
        self.sum_ns = 0
        self.largest_ns = 0
        self._steps: dict[int, int] = {}

    def add(self, ns: int) -> None:
        self.count += 1
        self.sum_ns += ns
        if ns > self.largest_ns:  # noqa: PLR1730 -- a call costs more, and this is the hot path
            self.largest_ns = ns
        shift = ns.bit_length() - _FINE_BITS - 1
        step = ns if shift <= 0 else (shift << _FINE_BITS) + (ns >> shift)
        steps = self._steps
        steps[step] = steps.get(step, 0) + 1

    @classmethod
    def together(cls, parts: Iterable[Times]) -> Self:
        """All of them as one."""
        whole = cls()
        for part in parts:
            whole.count += part.count
            whole.sum_ns += part.sum_ns
            whole.largest_ns = max(whole.largest_ns, part.largest_ns)
            for step, number in part._steps.items():  # noqa: SLF001 -- another of its kind
                whole._steps[step] = whole._steps.get(step, 0) + number
        return whole

    def quantile_ns(self, fraction: float) -> int:
        """The time that `fraction` of all did not exceed, to within a step (I2); 0 when there were none."""
        left = fraction * self.count
        for step in sorted(self._steps):
            left -= self._steps[step]
            if left <= 0:
                return min(_end_of(step), self.largest_ns)
        return self.largest_ns


def _end_of(step: int) -> int:
    """The largest number of a step."""
    if step < 2 * _FINE:
        return step
    shift = (step >> _FINE_BITS) - 1
    return (((step & (_FINE - 1)) + _FINE + 1) << shift) - 1


class TopicFigures:
    """What went in and out of one topic, or of all."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "bytes_rejected",
        "failed_fetches",
        "failed_produces",
        "fetches",
        "invalid_checksums",
        "invalid_magic",
        "invalid_offsets_or_sequences",
        "messages_in",
        "no_key_in_compacted",
        "produces",
        "reassignment_bytes_in",
        "reassignment_bytes_out",
        "recompressions",
        "replication_bytes_in",
        "replication_bytes_out",
    )

    def __init__(self) -> None:
        self.messages_in = 0
        self.bytes_in = 0
        self.bytes_out = 0
        """To consumers; followers are counted in `replication_bytes_out`."""
        self.bytes_rejected = 0
        """Of batches that were refused, for whatever reason."""
        self.produces = 0
        """Requests to one partition of the topic, counted one by one, as Kafka does."""
        self.fetches = 0
        self.failed_produces = 0
        self.failed_fetches = 0
        self.recompressions = 0
        """Batches that the broker compressed anew; Kafka calls it a message conversion."""
        self.no_key_in_compacted = 0
        self.invalid_magic = 0
        self.invalid_checksums = 0
        self.invalid_offsets_or_sequences = 0
        self.replication_bytes_in = 0
        self.replication_bytes_out = 0
        self.reassignment_bytes_in = 0
        self.reassignment_bytes_out = 0


class RequestFigures:
    """One API in one version."""

    __slots__ = ("bytes", "count", "local", "queue", "remote", "throttle", "total")

    def __init__(self) -> None:
        self.count = 0
        """Requests that were begun."""
        self.bytes = 0
        self.queue = Times()
        """From the arrival of its last byte to its turn."""
        self.local = Times()
        """What its handler worked before it answered or began to wait."""
        self.remote = Times()
        """How long its answer waited for others: purgatory, the controller, work in the background."""
        self.throttle = Times()
        self.total = Times()


class ListenerFigures:
    """The connections of one listener."""

    __slots__ = ("accepted", "bytes_in", "bytes_out", "closed", "expired", "open", "refused")

    def __init__(self) -> None:
        self.open = 0
        self.accepted = 0
        self.closed = 0
        self.refused = 0
        """Closed at once, because of a limit."""
        self.expired = 0
        """Closed because nothing came for `connections.max.idle.ms`."""
        self.bytes_in = 0
        self.bytes_out = 0


class Metrics:
    """See the module. Everything that is not underlined may be read, and counted, by anybody."""

    __slots__ = (
        "_listeners",
        "_requests",
        "_topics",
        "all_topics",
        "errors",
        "failed_isr_updates",
        "flushes",
        "isr_expands",
        "isr_shrinks",
        "offline_directories",
        "refused_for_lack_of_space",
        "unreadable_requests",
    )

    def __init__(self) -> None:
        self.all_topics = TopicFigures()
        self._topics: dict[str, TopicFigures] = {}
        self._requests: dict[tuple[int, int], RequestFigures] = {}
        self._listeners: dict[str, ListenerFigures] = {}
        self.errors: dict[tuple[int, int], int] = {}
        """(API key, error code) -> answers with that error; per partition where the API is."""
        self.flushes = Times()
        self.isr_shrinks = 0
        self.isr_expands = 0
        self.failed_isr_updates = 0
        self.offline_directories = 0
        self.refused_for_lack_of_space = 0
        self.unreadable_requests = 0
        """Connections that ended because of what came in: bad frames, unknown APIs, broken bodies."""

    def topic(self, name: str) -> TopicFigures:
        """The figures of a topic; they begin with the first question."""
        found = self._topics.get(name)
        if found is None:
            found = self._topics[name] = TopicFigures()
        return found

    def forget_topic(self, name: str) -> None:
        """The topic is gone from this broker."""
        self._topics.pop(name, None)

    def request(self, api_key: int, version: int) -> RequestFigures:
        """The figures of one version of an API; they begin with the first question."""
        found = self._requests.get((api_key, version))
        if found is None:
            found = self._requests[api_key, version] = RequestFigures()
        return found

    def listener(self, name: str) -> ListenerFigures:
        """The figures of a listener; they begin with the first question."""
        found = self._listeners.get(name)
        if found is None:
            found = self._listeners[name] = ListenerFigures()
        return found

    def failed(self, api_key: int, error_code: int, count: int = 1) -> None:
        """An answer carries this error."""
        key = (api_key, error_code)
        self.errors[key] = self.errors.get(key, 0) + count

    def topics(self) -> Iterator[tuple[str, TopicFigures]]:
        """Every topic that was counted, by name."""
        return iter(sorted(self._topics.items()))

    def requests(self) -> Iterator[tuple[int, int, RequestFigures]]:
        """(API key, version, figures), by key and version."""
        return iter([(*key, self._requests[key]) for key in sorted(self._requests)])

    def listeners(self) -> Iterator[tuple[str, ListenerFigures]]:
        """Every listener, by name."""
        return iter(sorted(self._listeners.items()))
