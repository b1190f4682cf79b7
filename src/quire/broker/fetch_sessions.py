"""Incremental fetch sessions (KIP-227): a fetcher says only what changed, and is told only what changed.

A session remembers which partitions a fetcher wants and what it was told of each; its requests are numbered, so that a
lost or repeated one is noticed. A broker keeps a bounded number of sessions.

Invariants
  I1  There are never more sessions than slots. Without a slot a fetch is answered in full, under session id 0.
  I2  A request is taken only with the epoch that follows the last one; after 2^31-1 comes 1.
  I3  An incremental answer leaves out a partition only when it has no records and no error, and when its high
      watermark and log start are those that this fetcher was told last.
  I4  Partitions that gave records go to the end of the order: a busy one cannot starve the others.
  I5  A follower's session is not evicted for a consumer's.
Not here   reading logs, counting bytes (the fetch handler); which topics there are.
See        KIP-227, KIP-516 (topic ids).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from quire.errors import ErrorCode

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1
UNTOLD = -1

Topic: TypeAlias = str | bytes
"""A topic's name, or its id in requests that use ids."""
PartitionKey: TypeAlias = tuple[Topic, int]


class Wanted(NamedTuple):
    """What a fetcher wants of one partition."""

    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    log_start_offset: int = -1


class Found(NamedTuple):
    """What the answer says of one partition, as far as sessions are concerned."""

    error: ErrorCode
    has_records: bool
    high_watermark: int
    log_start_offset: int
    must_be_told: bool = False
    """A diverging epoch, or a replica to read from instead."""


class _Partition:
    """One partition of a session: what is wanted, and what was told."""

    __slots__ = ("told_high_watermark", "told_log_start_offset", "wanted")

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.told_high_watermark = UNTOLD
        self.told_log_start_offset = UNTOLD

    def has_news(self, found: Found) -> bool:
        """Whether the fetcher must be told (I3); afterwards it counts as told."""
        changed = (
            found.high_watermark != self.told_high_watermark
            or found.log_start_offset != self.told_log_start_offset
        )
        self.told_high_watermark = found.high_watermark
        self.told_log_start_offset = found.log_start_offset
        if found.error is not ErrorCode.NONE:
            self.told_high_watermark = UNTOLD  # so that the end of the error is news
            return True
        return changed or found.has_records or found.must_be_told


class Session:
    """One fetcher's session. Its order is the order in which its partitions are served."""

    def __init__(
        self, session_id: int, *, uses_topic_ids: bool, is_follower: bool, now_ms: int
    ) -> None:
        self.id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.is_follower = is_follower
        self.created_ms = self.used_ms = now_ms
        self.next_epoch = 1
        self.partitions: dict[PartitionKey, _Partition] = {}

    def want(
        self, wanted: Mapping[PartitionKey, Wanted], forgotten: Iterable[PartitionKey]
    ) -> None:
        """Add, change and drop partitions."""
        for key, one in wanted.items():
            known = self.partitions.get(key)
            if known is None:
                self.partitions[key] = _Partition(one)
            else:
                known.wanted = one
        for key in forgotten:
            self.partitions.pop(key, None)


class FetchContext:
    """One fetch: what it is about, and which part of its answer is sent."""

    def __init__(
        self,
        wanted: Mapping[PartitionKey, Wanted],
        session: Session | None,
        *,
        is_incremental: bool,
    ) -> None:
        self.wanted = dict(wanted)
        """In the order in which they are served."""
        self.is_incremental = is_incremental
        self._session = session

    @property
    def session_id(self) -> int:
        """What the answer carries."""
        return NO_SESSION if self._session is None else self._session.id

    def would_tell(self, found: Mapping[PartitionKey, Found]) -> bool:
        """Whether an answer with `found` has anything in it that cannot wait: an error, or what must be told."""
        return any(one.error is not ErrorCode.NONE or one.must_be_told for one in found.values())

    def finish(self, found: Mapping[PartitionKey, Found]) -> list[PartitionKey]:
        """Which partitions the answer names, in order."""
        session = self._session
        if session is None:
            return list(found)
        told = []
        for key, one in found.items():
            partition = session.partitions.get(key)
            if partition is None:
                continue
            has_news = partition.has_news(one)
            if has_news or not self.is_incremental:
                told.append(key)
            if one.has_records:
                session.partitions[key] = session.partitions.pop(key)  # I4
        return told


class FetchSessions:
    """The sessions of a broker."""

    def __init__(self, *, slots: int, eviction_ms: int, draw_below: Callable[[int], int]) -> None:
        self._slots = slots
        self._eviction_ms = eviction_ms
        self._draw_below = draw_below
        self._sessions: dict[int, Session] = {}
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partitions(self) -> int:
        """How many partitions all sessions hold."""
        return sum(len(session.partitions) for session in self._sessions.values())

    def begin(
        self,
        session_id: int,
        session_epoch: int,
        wanted: Mapping[PartitionKey, Wanted],
        forgotten: Iterable[PartitionKey],
        *,
        uses_topic_ids: bool,
        is_follower: bool,
        now_ms: int,
    ) -> FetchContext | ErrorCode:
        """Take a fetch: open, continue or close its session, or refuse it."""
        if session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if session_epoch == FINAL_EPOCH:
                return FetchContext(wanted, None, is_incremental=False)
            session = self._open(
                len(wanted), uses_topic_ids=uses_topic_ids, is_follower=is_follower, now_ms=now_ms
            )
            if session is not None:
                session.want(wanted, ())
            return FetchContext(wanted, session, is_incremental=False)
        return self._go_on(
            session_id,
            session_epoch,
            wanted,
            forgotten,
            uses_topic_ids=uses_topic_ids,
            now_ms=now_ms,
        )

    def check(self) -> None:
        """Assert the invariants."""
        assert len(self._sessions) <= self._slots  # I1
        assert all(
            1 <= session.next_epoch <= MAX_EPOCH for session in self._sessions.values()
        )  # I2

    def _go_on(
        self,
        session_id: int,
        session_epoch: int,
        wanted: Mapping[PartitionKey, Wanted],
        forgotten: Iterable[PartitionKey],
        *,
        uses_topic_ids: bool,
        now_ms: int,
    ) -> FetchContext | ErrorCode:
        session = self._sessions.get(session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session_epoch != session.next_epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.uses_topic_ids != uses_topic_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        session.want(wanted, forgotten)
        session.next_epoch = 1 if session_epoch == MAX_EPOCH else session_epoch + 1
        session.used_ms = now_ms
        if not session.partitions:
            del self._sessions[session_id]
            return FetchContext({}, None, is_incremental=False)
        everything = {key: partition.wanted for key, partition in session.partitions.items()}
        return FetchContext(everything, session, is_incremental=True)

    def _open(
        self, size: int, *, uses_topic_ids: bool, is_follower: bool, now_ms: int
    ) -> Session | None:
        if len(self._sessions) >= self._slots and not self._evict_for(is_follower, size, now_ms):
            return None
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = 1 + self._draw_below(2**31 - 1)
        session = Session(
            session_id, uses_topic_ids=uses_topic_ids, is_follower=is_follower, now_ms=now_ms
        )
        self._sessions[session_id] = session
        return session

    def _evict_for(self, is_follower: bool, size: int, now_ms: int) -> bool:  # noqa: FBT001
        """Make room for a new session: take one that is not used any more, or one that matters less (I5)."""
        if not self._sessions:
            return False
        idle = min(self._sessions.values(), key=lambda one: (one.used_ms, one.id))
        if now_ms - idle.used_ms > self._eviction_ms:
            return self._evict(idle)
        lesser = [
            one
            for one in self._sessions.values()
            if self._matters_less(one, is_follower, size, now_ms)
        ]
        if not lesser:
            return False
        return self._evict(
            min(lesser, key=lambda one: (one.is_follower, len(one.partitions), one.id))
        )

    def _matters_less(self, one: Session, is_follower: bool, size: int, now_ms: int) -> bool:  # noqa: FBT001
        if one.is_follower != is_follower:
            return is_follower
        is_settled = now_ms - one.created_ms > self._eviction_ms
        return is_settled and len(one.partitions) < size

    def _evict(self, session: Session) -> bool:
        del self._sessions[session.id]
        self.evictions += 1
        return True
