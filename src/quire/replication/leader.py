"""The leader's side of one partition: who is in sync, and how far the log is safe.

Told of appends, follower fetches, the controller's answers and the time; decisions come back as effects. Owns no file
and no socket. With one replica an append costs it two comparisons.

Invariants
  I1  high_watermark <= log_end_offset, and it never goes back within a leader epoch.
  I2  high_watermark = smallest log end offset over the *maximal* ISR (the committed one plus a pending expansion) and
      over replicas that are caught up and eligible to join: waiting for them is stricter, hence safe, and lets them in.
  I3  Below min.insync.replicas the high watermark stands still, and appends with acks=all are refused.
  I4  At most one change of the ISR is in flight; a shrink counts only once the controller has answered.
  I5  A request that carries another leader epoch is answered FENCED (older) or UNKNOWN (newer), never served.
  I6  Until the high watermark has reached the offset at which this epoch began, "the latest offset" is not known: an
      earlier leader may have shown more.
Not here   bytes on disk (storage.log), who should lead (controller.partitions), waiting clients (broker.purgatory).
See        KIP-101, KIP-207 (I6), KIP-497, KIP-966 (I3)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from quire.errors import ErrorCode

OK: Final = ErrorCode.NONE
NO_EPOCH: Final = -1
"""A request that knows of no leader epoch."""
ACKS_ALL: Final = -1
UNKNOWN_OFFSET: Final = -1
LONG_AGO_MS: Final = -(2**62)


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """Effect: ask the controller for this ISR. `isr` has the broker epoch of each member."""

    isr: tuple[tuple[int, int], ...]
    leader_epoch: int
    partition_epoch: int


@dataclass(slots=True)
class Follower:
    """How far another replica is, by its own fetches."""

    log_end_offset: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET
    caught_up_ms: int = LONG_AGO_MS
    """When it last had everything that the leader had at some moment."""
    fetched_ms: int = LONG_AGO_MS
    leader_end_when_fetched: int = 0
    broker_epoch: int = -1


@dataclass(frozen=True, slots=True)
class Role:
    """What the controller says of a partition that this broker leads."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]


class Leader:
    """See the module. Everything that is not underlined may be read by anybody."""

    __slots__ = (
        "_active",
        "_min_insync_replicas",
        "_sole",
        "_under_min",
        "epoch_start_offset",
        "followers",
        "high_watermark",
        "isr",
        "leader_epoch",
        "log_end_offset",
        "node_id",
        "partition_epoch",
        "pending",
        "replica_lag_ms",
    )

    def __init__(
        self,
        node_id: int,
        role: Role,
        *,
        log_end_offset: int,
        high_watermark: int,
        min_insync_replicas: int,
        replica_lag_ms: int,
        now_ms: int,
    ) -> None:
        self.node_id = node_id
        self.leader_epoch = role.leader_epoch
        self.partition_epoch = role.partition_epoch
        self.isr = role.isr
        """As the controller committed it."""
        self.pending: tuple[int, ...] | None = None
        """The ISR that was asked for and is not answered (I4)."""
        self.epoch_start_offset = self.log_end_offset = log_end_offset
        self.high_watermark = high_watermark
        self.replica_lag_ms = replica_lag_ms
        self.followers = {
            replica: Follower(caught_up_ms=now_ms if replica in role.isr else LONG_AGO_MS)
            for replica in role.replicas
            if replica != node_id
        }
        self._active: Mapping[int, int] = {}
        self._min_insync_replicas = min_insync_replicas
        self._sole = False
        self._under_min = False
        self._settle()
        self._advance(now_ms)

    # --- questions ----------------------------------------------------------------------------

    def check_epoch(self, epoch: int) -> ErrorCode:
        """Whether a request with this current leader epoch may be served (I5)."""
        if epoch in (self.leader_epoch, NO_EPOCH):
            return OK
        if epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def admit(self, acks: int) -> ErrorCode:
        """Whether an append with these acks may be made now (I3)."""
        if self._under_min and acks == ACKS_ALL:
            return ErrorCode.NOT_ENOUGH_REPLICAS
        return OK

    def acknowledged(self, end_offset: int) -> ErrorCode | None:
        """Whether an append with acks=all that ends at `end_offset` can be answered, and how; None: not yet."""
        if self.high_watermark < end_offset:
            return None
        if len(self.maximal_isr) < self._effective_min():
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return OK

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """Whoever may be in sync by the controller's next word (I2, I4)."""
        if self.pending is None or len(self.pending) < len(self.isr):
            return self.isr
        return self.pending

    @property
    def is_under_min_isr(self) -> bool:
        return self._under_min

    @property
    def is_at_min_isr(self) -> bool:
        return len(self.isr) == self._effective_min()

    @property
    def is_under_replicated(self) -> bool:
        return len(self.isr) < len(self.followers) + 1

    def knows_latest(self, high_watermark: int) -> bool:
        """Whether what is below the high watermark may be told as the latest there is (I6)."""
        return high_watermark >= self.epoch_start_offset

    def low_watermark(self, log_start_offset: int) -> int:
        """The smallest log start over the live replicas: below it records are gone everywhere."""
        low = log_start_offset
        for replica, follower in self.followers.items():
            if replica in self._active and follower.log_start_offset < low:
                low = follower.log_start_offset
        return low

    # --- events -------------------------------------------------------------------------------

    def on_appended(self, log_end_offset: int, now_ms: int) -> int:
        """The log has grown; the high watermark as it is now."""
        self.log_end_offset = log_end_offset
        if self._sole:
            self.high_watermark = log_end_offset
            return log_end_offset
        return self._advance(now_ms)

    def on_follower_fetch(
        self,
        replica: int,
        *,
        fetch_offset: int,
        log_start_offset: int,
        broker_epoch: int,
        now_ms: int,
    ) -> AlterPartition | None:
        """A follower has everything below `fetch_offset`; it may have earned its place in the ISR."""
        follower = self.followers[replica]
        if fetch_offset >= self.log_end_offset:
            follower.caught_up_ms = max(follower.caught_up_ms, now_ms)
        elif fetch_offset >= follower.leader_end_when_fetched:
            follower.caught_up_ms = max(follower.caught_up_ms, follower.fetched_ms)
        follower.log_end_offset = fetch_offset
        follower.log_start_offset = log_start_offset
        follower.fetched_ms = now_ms
        follower.leader_end_when_fetched = self.log_end_offset
        follower.broker_epoch = broker_epoch
        effect = self._expand(replica, follower)
        self._advance(now_ms)
        return effect

    def on_time(self, now_ms: int) -> AlterPartition | None:
        """Ask whether somebody has fallen behind for too long; to be called every half `replica_lag_ms`."""
        if self.pending is not None:
            return None
        behind = [
            replica
            for replica in self.isr
            if replica != self.node_id and not self._is_caught_up(self.followers[replica], now_ms)
        ]
        if not behind:
            return None
        return self._ask(tuple(replica for replica in self.isr if replica not in behind))

    def on_brokers(self, active: Mapping[int, int]) -> None:
        """The brokers that are neither fenced nor shutting down, and their epochs: who may join an ISR."""
        self._active = active

    def on_settings(self, *, min_insync_replicas: int, replica_lag_ms: int, now_ms: int) -> int:
        """Settings have changed; the high watermark as it is now."""
        self._min_insync_replicas = min_insync_replicas
        self.replica_lag_ms = replica_lag_ms
        self._settle()
        return self._advance(now_ms)

    def on_role(self, role: Role, now_ms: int) -> int:
        """The controller's word for the same leader epoch: ISR and replicas; the high watermark as it is now."""
        assert role.leader_epoch == self.leader_epoch
        if role.partition_epoch >= self.partition_epoch:
            self._commit(role.isr, role.partition_epoch)
            self._place(role.replicas)
        return self._advance(now_ms)

    def on_altered(self, isr: Iterable[int], partition_epoch: int, now_ms: int) -> int:
        """The controller has taken the change; the high watermark as it is now."""
        if partition_epoch > self.partition_epoch:
            self._commit(tuple(isr), partition_epoch)
        elif partition_epoch == self.partition_epoch:
            self.pending = None  # nothing had to change
        return self._advance(now_ms)

    def on_alter_refused(self, error: ErrorCode, now_ms: int) -> int:
        """The controller has refused the change; the high watermark as it is now.

        Where the refusal says that our picture is old, the change stays pending: news comes through the metadata.
        """
        if error in _ASK_AGAIN or error.retriable:
            self.pending = None
        return self._advance(now_ms)

    def check(self) -> None:
        """Assert the invariants."""
        assert self.high_watermark <= self.log_end_offset  # I1
        assert self._under_min == (len(self.isr) < self._effective_min())  # I3
        assert self.pending is None or self.pending != self.isr  # I4
        assert set(self.maximal_isr) >= set(self.isr)  # I4
        if not self._under_min:
            for replica in self.maximal_isr:
                if replica != self.node_id:
                    ends = self.followers[replica].log_end_offset
                    assert self.high_watermark <= max(ends, self.epoch_start_offset)  # I2
        assert self._sole == (not self.followers and not self._under_min)

    # --- inside -------------------------------------------------------------------------------

    def _effective_min(self) -> int:
        """More than all replicas cannot be in sync."""
        return min(self._min_insync_replicas, len(self.followers) + 1)

    def _settle(self) -> None:
        """What the hot path asks is kept ready."""
        self._under_min = len(self.isr) < self._effective_min()
        self._sole = not self.followers and not self._under_min

    def _advance(self, now_ms: int) -> int:
        if self._under_min:
            return self.high_watermark  # I3
        lowest = self.log_end_offset
        maximal = self.maximal_isr
        for replica, follower in self.followers.items():
            if follower.log_end_offset < lowest and (
                replica in maximal
                or (self._is_caught_up(follower, now_ms) and self._is_eligible(replica, follower))
            ):
                lowest = follower.log_end_offset
        self.high_watermark = max(self.high_watermark, lowest)
        return self.high_watermark

    def _is_caught_up(self, follower: Follower, now_ms: int) -> bool:
        return (
            follower.log_end_offset == self.log_end_offset
            or now_ms - follower.caught_up_ms <= self.replica_lag_ms
        )

    def _is_eligible(self, replica: int, follower: Follower) -> bool:
        """Neither fenced nor shutting down, and the same incarnation that fetched."""
        epoch = self._active.get(replica)
        return epoch is not None and follower.broker_epoch in (epoch, NO_EPOCH)

    def _expand(self, replica: int, follower: Follower) -> AlterPartition | None:
        if (
            self.pending is not None
            or replica in self.isr
            or follower.log_end_offset < self.high_watermark
            or follower.log_end_offset < self.epoch_start_offset
            or not self._is_eligible(replica, follower)
        ):
            return None
        return self._ask((*self.isr, replica))

    def _ask(self, isr: tuple[int, ...]) -> AlterPartition:
        self.pending = isr
        with_epochs = tuple((replica, self._epoch_of(replica)) for replica in isr)
        return AlterPartition(with_epochs, self.leader_epoch, self.partition_epoch)

    def _epoch_of(self, replica: int) -> int:
        follower = self.followers.get(replica)
        if follower is not None and follower.broker_epoch != NO_EPOCH:
            return follower.broker_epoch
        return self._active.get(replica, NO_EPOCH)

    def _commit(self, isr: tuple[int, ...], partition_epoch: int) -> None:
        self.isr = isr
        self.partition_epoch = partition_epoch
        self.pending = None
        self._settle()

    def _place(self, replicas: tuple[int, ...]) -> None:
        """Replicas come and go while partitions are reassigned."""
        self.followers = {
            replica: self.followers.get(replica) or Follower()
            for replica in replicas
            if replica != self.node_id
        }
        self._settle()


_ASK_AGAIN: Final = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
