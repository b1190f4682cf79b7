"""The active controller: commands in, records and answers out, and an image that only records change.

    decision = controller.command(request, now_ms=..., next_offset=...)
    append(decision.records)                              as one batch, at next_offset
    controller.replay(messages, last_offset=..., quorum_epoch=...)
    answer(decision.response)                             when the last of the records is committed

Every record is replayed when it is appended; a controller that loses its office is thrown away, and
so is what it replayed beyond the committed end. Whoever takes office makes a new machine on the
committed image and calls `activate`.

Invariants
  I1  The image is the fold of the log: no command and no timer changes it.
  I2  The same image, request, time, offset and draws give the same decision.
  I3  After each replay the invariants of `invariants` hold; `check` asserts them.
Not here   the log and its commits (raft), who may ask (broker), reading metadata (the image).
See        docs/decisions/0009-controller-is-a-replayed-machine.md, KIP-631
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from quire.controller import (
    acls,
    activation,
    brokers,
    configs,
    controllers,
    features,
    partitions,
    producer_ids,
    quotas,
    reassignments,
    scram,
    topics,
)
from quire.controller.decision import ConfigRules, Decision, Settings, Timer, Turn
from quire.controller.invariants import check_image, check_step
from quire.controller.sessions import Sessions
from quire.errors import QuireError
from quire.metadata.delta import Touched
from quire.metadata.image import EMPTY, Broker, Image
from quire.metadata.records import Message
from quire.metadata.replay import Replay
from quire.ports.entropy import Entropy
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from quire.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from quire.protocol.messages.alter_configs import AlterConfigsRequest
from quire.protocol.messages.alter_partition import AlterPartitionRequest
from quire.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from quire.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from quire.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from quire.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from quire.protocol.messages.broker_registration import BrokerRegistrationRequest
from quire.protocol.messages.controller_registration import ControllerRegistrationRequest
from quire.protocol.messages.create_acls import CreateAclsRequest
from quire.protocol.messages.create_partitions import CreatePartitionsRequest
from quire.protocol.messages.create_topics import CreateTopicsRequest
from quire.protocol.messages.delete_acls import DeleteAclsRequest
from quire.protocol.messages.delete_topics import DeleteTopicsRequest
from quire.protocol.messages.elect_leaders import ElectLeadersRequest
from quire.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from quire.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from quire.protocol.messages.metadata_records import (
    NoOpRecord,
)
from quire.protocol.messages.unregister_broker import UnregisterBrokerRequest
from quire.protocol.messages.update_features import UpdateFeaturesRequest

Command = Callable[[Turn, Any], Decision]

COMMANDS: Final[Mapping[type, Command]] = MappingProxyType(
    {
        AllocateProducerIdsRequest: producer_ids.allocate,
        AlterClientQuotasRequest: quotas.alter,
        AlterConfigsRequest: configs.alter,
        AlterPartitionReassignmentsRequest: reassignments.alter_reassignments,
        AlterPartitionRequest: partitions.alter_partition,
        AlterUserScramCredentialsRequest: scram.alter,
        AssignReplicasToDirsRequest: partitions.assign_replicas_to_dirs,
        BrokerHeartbeatRequest: brokers.heartbeat,
        BrokerRegistrationRequest: brokers.register,
        ControllerRegistrationRequest: controllers.register,
        CreateAclsRequest: acls.create,
        CreatePartitionsRequest: topics.grow,
        CreateTopicsRequest: topics.create,
        DeleteAclsRequest: acls.delete,
        DeleteTopicsRequest: topics.delete,
        ElectLeadersRequest: partitions.elect_leaders,
        IncrementalAlterConfigsRequest: configs.alter_incrementally,
        ListPartitionReassignmentsRequest: reassignments.list_reassignments,
        UnregisterBrokerRequest: brokers.unregister_broker,
        UpdateFeaturesRequest: features.update,
    }
)
"""What each request does."""

NO_OP: Final = "no-op"
SESSIONS: Final = "sessions"
BALANCE: Final = "balance"
UNCLEAN: Final = "unclean"


class CommandError(QuireError):
    """A request that the controller has no command for."""


class Controller:
    """The machine."""

    __slots__ = ("_before", "_entropy", "_replay", "_rules", "_sessions", "_settings")

    def __init__(
        self,
        settings: Settings,
        rules: ConfigRules,
        entropy: Entropy,
        image: Image = EMPTY,
        *,
        in_transaction: bool = False,
    ) -> None:
        """`in_transaction`: a predecessor left a metadata transaction open behind the image."""
        self._settings = settings
        self._rules = rules
        self._entropy = entropy
        self._replay = Replay(image, in_transaction=in_transaction)
        self._before = image
        self._sessions = Sessions(settings.broker_session_timeout_ms)

    @property
    def image(self) -> Image:
        """The hard state: everything that was replayed."""
        return self._replay.image

    @property
    def sessions(self) -> Sessions:
        """The soft state."""
        return self._sessions

    def activate(
        self,
        *,
        now_ms: int,
        next_offset: int,
        bootstrap: Sequence[Message] | None = None,
        is_gone: Callable[[Broker], bool] = lambda _broker: False,
    ) -> Decision:
        """Take office. `bootstrap` is what an empty log begins with; None means the defaults.

        `is_gone` says of a registered broker that its process is known to have ended: it gets no session.
        """
        turn = self._turn(now_ms, next_offset)
        for broker_id, broker in self.image.brokers.items():
            if not is_gone(broker):
                self._sessions.start(broker_id, now_ms)
        records = activation.activate(
            turn,
            activation.bootstrap_messages() if bootstrap is None else bootstrap,
            in_transaction=self._replay.in_transaction,
        )
        settings = self._settings
        timers = [self._expiry(now_ms)]
        if settings.metadata_max_idle_interval_ms > 0:
            timers.append(Timer(NO_OP, now_ms + settings.metadata_max_idle_interval_ms))
        timers.append(Timer(UNCLEAN, now_ms + settings.unclean_leader_election_interval_ms))
        if settings.auto_leader_rebalance_enable:
            timers.append(Timer(BALANCE, now_ms + settings.leader_imbalance_check_interval_ms))
        return Decision(records, timers=tuple(timers))

    def command(self, request: object, *, now_ms: int, next_offset: int) -> Decision:
        """What a request comes to."""
        found = COMMANDS.get(type(request))
        if found is None:
            raise CommandError(f"the controller has no command for {type(request).__name__}")
        decision = found(self._turn(now_ms, next_offset), request)
        return replace(decision, timers=(*decision.timers, self._expiry(now_ms)))

    def replay(
        self, messages: Iterable[Message], *, last_offset: int, quorum_epoch: int
    ) -> Touched:
        """Take in one batch of the log, whoever wrote it."""
        self._before = self.image
        touched = self._replay.load(messages, last_offset=last_offset, quorum_epoch=quorum_epoch)
        for broker_id in touched.brokers:
            if broker_id not in self.image.brokers:
                self._sessions.end(broker_id)
        return touched

    def on_timer(self, key: str, *, now_ms: int, next_offset: int) -> Decision:
        """A timer's time has come."""
        turn, settings = self._turn(now_ms, next_offset), self._settings
        if key == NO_OP:
            again = Timer(NO_OP, now_ms + settings.metadata_max_idle_interval_ms)
            return Decision((turn.record(NoOpRecord()),), timers=(again,))
        if key == SESSIONS:
            return Decision(brokers.fence_one_stale(turn), timers=(self._expiry(now_ms),))
        if key == BALANCE:
            again = Timer(BALANCE, now_ms + settings.leader_imbalance_check_interval_ms)
            return Decision(partitions.balance_leaders(turn), timers=(again,))
        if key == UNCLEAN:
            again = Timer(UNCLEAN, now_ms + settings.unclean_leader_election_interval_ms)
            return Decision(partitions.elect_uncleanly(turn), timers=(again,))
        raise CommandError(f"the controller set no timer called {key!r}")

    def check(self) -> None:
        """Assert the invariants of the image, and of the step to it."""
        check_image(self.image)
        check_step(self._before, self.image)

    def _turn(self, now_ms: int, next_offset: int) -> Turn:
        return Turn(
            image=self.image,
            sessions=self._sessions,
            settings=self._settings,
            rules=self._rules,
            entropy=self._entropy,
            now_ms=now_ms,
            next_offset=next_offset,
        )

    def _expiry(self, now_ms: int) -> Timer:
        """When the next session may end; never before the next millisecond."""
        unfenced = [one.broker_id for one in self.image.brokers.values() if not one.fenced]
        due_ms = self._sessions.due_ms(unfenced)
        latest = now_ms + self._settings.broker_session_timeout_ms
        return Timer(SESSIONS, latest if due_ms is None else max(due_ms, now_ms + 1))
