"""A broker's life as the controller sees it: registered, fenced, unfenced, shutting down, gone.

    FENCED               -> UNFENCED when it no longer wants to be fenced and has read its registration
    UNFENCED             -> FENCED when it asks, or its session ends
                         -> CONTROLLED_SHUTDOWN when it wants to stop and leads anything
                         -> SHUTDOWN_NOW when it wants to stop and leads nothing
    CONTROLLED_SHUTDOWN  -> SHUTDOWN_NOW when it leads nothing and all others know
    any                  -> FENCED anew by a registration of a new process

Invariants
  I1  One process per id: a second is refused while the first is unfenced and its session runs.
  I2  A broker leaves the in-sync sets in the decision that fences it.
  I3  A process that comes back without proof of a clean stop is in nobody's in-sync set, nor
      eligible, before it is registered.
  I4  No directory id belongs to two brokers.
Not here   who leads instead (partition_change), the clock of sessions (sessions).
See        KIP-631, KIP-841, KIP-858, KIP-966
"""

from __future__ import annotations

from enum import Enum

from quire.controller import partitions
from quire.controller.decision import Decision, Turn
from quire.errors import ErrorCode
from quire.metadata.features import DIRECTORIES_LEVEL, METADATA_VERSION
from quire.metadata.image import Broker
from quire.metadata.records import Message, MetadataRecord, register_broker_version
from quire.protocol.messages import broker_heartbeat as heartbeats
from quire.protocol.messages import broker_registration as registrations
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages import unregister_broker as unregister

RESERVED_DIRECTORIES_BELOW = 100


# --- registration ----------------------------------------------------------------------------


def register(turn: Turn, request: registrations.BrokerRegistrationRequest) -> Decision:
    """A broker's process starts and wants to take part."""
    code = _registration_error(turn, request)
    if code is not ErrorCode.NONE:
        return Decision(response=_registered(code, -1))
    existing = turn.image.brokers.get(request.broker_id)
    same_process = existing is not None and existing.incarnation_id == request.incarnation_id
    before: list[MetadataRecord] = []
    if existing is not None and not same_process:
        before = _leave_behind(turn, existing, request.previous_broker_epoch)
    epoch = turn.next_offset + len(before)
    if existing is not None and same_process:
        epoch = existing.broker_epoch
    message = _registration(turn, request, epoch, existing if same_process else None)
    turn.sessions.start(request.broker_id, turn.now_ms)
    return Decision((*before, turn.record(message)), _registered(ErrorCode.NONE, epoch))


def _registered(code: ErrorCode, epoch: int) -> registrations.BrokerRegistrationResponse:
    return registrations.BrokerRegistrationResponse(
        throttle_time_ms=0, error_code=code, broker_epoch=epoch
    )


def _registration_error(turn: Turn, request: registrations.BrokerRegistrationRequest) -> ErrorCode:
    if request.cluster_id != turn.settings.cluster_id:
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    existing = turn.image.brokers.get(request.broker_id)
    if (
        existing is not None
        and not existing.fenced
        and existing.incarnation_id != request.incarnation_id
        and turn.sessions.is_valid(request.broker_id, turn.now_ms)
    ):
        return ErrorCode.DUPLICATE_BROKER_REGISTRATION
    if request.is_migrating_zk_broker:
        return ErrorCode.BROKER_ID_NOT_REGISTERED
    if turn.image.metadata_version >= DIRECTORIES_LEVEL:
        code = _directories_error(turn, request)
        if code is not ErrorCode.NONE:
            return code
    supported = {
        one.name: (one.min_supported_version, one.max_supported_version) for one in request.features
    }
    if METADATA_VERSION not in supported:
        return ErrorCode.INVALID_REGISTRATION
    levels = {METADATA_VERSION: turn.image.metadata_version, **turn.image.features}
    for name, level in levels.items():
        lowest, highest = supported.get(name, (0, 0))
        if not lowest <= level <= highest:
            return ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.NONE


def _directories_error(turn: Turn, request: registrations.BrokerRegistrationRequest) -> ErrorCode:
    """Brokers I4, and none of the ids that mean something else."""
    directories = request.log_dirs
    others = {
        directory
        for broker in turn.image.brokers.values()
        if broker.broker_id != request.broker_id
        for directory in broker.directories
    }
    reserved = any(int.from_bytes(one) < RESERVED_DIRECTORIES_BELOW for one in directories)
    if not directories or reserved or others & set(directories):
        return ErrorCode.INVALID_REGISTRATION
    if len(set(directories)) != len(directories):
        return ErrorCode.INVALID_REGISTRATION
    return ErrorCode.NONE


def _leave_behind(turn: Turn, existing: Broker, previous_broker_epoch: int) -> list[MetadataRecord]:
    """Take the process before this one out of the sets it may still be in (brokers I3)."""
    broker_id = existing.broker_id
    if not turn.image.has_elr or previous_broker_epoch == existing.broker_epoch:
        return partitions.repair(turn, partitions.in_sync_on(turn, broker_id), leaving=broker_id)
    places = [
        place
        for place in turn.image.partitions()
        if broker_id in place[2].isr or broker_id in place[2].elr
    ]
    return partitions.repair(turn, places, lost=broker_id)


def _registration(
    turn: Turn,
    request: registrations.BrokerRegistrationRequest,
    epoch: int,
    existing: Broker | None,
) -> records.RegisterBrokerRecord:
    version = register_broker_version(turn.image.metadata_version)
    return records.RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=[
            records.BrokerEndpoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            records.BrokerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
        rack=request.rack,
        fenced=True if existing is None else existing.fenced,
        in_controlled_shutdown=False
        if existing is None or version < 1
        else existing.in_controlled_shutdown,
        log_dirs=list(request.log_dirs) if version >= 3 else [],
    )


def unregister_broker(turn: Turn, request: unregister.UnregisterBrokerRequest) -> Decision:
    """A broker that will not return is forgotten."""
    broker = turn.image.brokers.get(request.broker_id)
    if broker is None:
        response = unregister.UnregisterBrokerResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.BROKER_ID_NOT_REGISTERED,
            error_message=f"Broker ID {request.broker_id} is not currently registered",
        )
        return Decision(response=response)
    broker_id = broker.broker_id
    changes = partitions.repair(turn, partitions.in_sync_on(turn, broker_id), leaving=broker_id)
    message = records.UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.broker_epoch)
    turn.sessions.end(broker_id)
    response = unregister.UnregisterBrokerResponse(
        throttle_time_ms=0, error_code=0, error_message=None
    )
    return Decision((*changes, turn.record(message)), response)


# --- heartbeats ------------------------------------------------------------------------------


class State(Enum):
    """Where in its life a broker is; the table stands above."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"


def heartbeat(turn: Turn, request: heartbeats.BrokerHeartbeatRequest) -> Decision:
    """A broker is alive, and says what it wants."""
    broker = turn.broker_at(request.broker_id, request.broker_epoch)
    if broker is None:
        response = heartbeats.BrokerHeartbeatResponse(
            throttle_time_ms=0, error_code=ErrorCode.STALE_BROKER_EPOCH, should_shut_down=False
        )
        return Decision(response=response)
    turn.sessions.touch(broker.broker_id, turn.now_ms, request.current_metadata_offset)
    now, then = _state(broker), _next_state(turn, broker, request)
    changes: list[MetadataRecord] = []
    if then is State.UNFENCED and now is State.FENCED:
        changes = _unfence(turn, broker)
    elif (then is State.FENCED and now is not State.FENCED) or (
        then is State.SHUTDOWN_NOW and now is not State.FENCED
    ):
        changes = fence(turn, broker)
    elif then is State.CONTROLLED_SHUTDOWN and now is State.UNFENCED:
        changes = _begin_controlled_shutdown(turn, broker)
    if not changes:
        changes = _directory_changes(turn, broker, request)
    response = heartbeats.BrokerHeartbeatResponse(
        throttle_time_ms=0,
        error_code=0,
        is_caught_up=request.current_metadata_offset >= broker.broker_epoch,
        is_fenced=then in (State.FENCED, State.SHUTDOWN_NOW),
        should_shut_down=then is State.SHUTDOWN_NOW,
    )
    return Decision(tuple(changes), response)


def _state(broker: Broker) -> State:
    if broker.fenced:
        return State.FENCED
    return State.CONTROLLED_SHUTDOWN if broker.in_controlled_shutdown else State.UNFENCED


def _next_state(turn: Turn, broker: Broker, request: heartbeats.BrokerHeartbeatRequest) -> State:
    now = _state(broker)
    if now is State.FENCED:
        if request.want_shut_down:
            return State.SHUTDOWN_NOW
        caught_up = request.current_metadata_offset >= broker.broker_epoch
        return State.UNFENCED if caught_up and not request.want_fence else State.FENCED
    if now is State.CONTROLLED_SHUTDOWN:
        done = not partitions.leads_any(turn, broker.broker_id) and _others_know(turn, broker)
        return State.SHUTDOWN_NOW if done else State.CONTROLLED_SHUTDOWN
    if request.want_fence:
        return State.SHUTDOWN_NOW if request.want_shut_down else State.FENCED
    if request.want_shut_down:
        leads = partitions.leads_any(turn, broker.broker_id)
        return State.CONTROLLED_SHUTDOWN if leads else State.SHUTDOWN_NOW
    return State.UNFENCED


def _others_know(turn: Turn, broker: Broker) -> bool:
    """Whether every active broker has read the records of this controlled shutdown."""
    session = turn.sessions.get(broker.broker_id)
    assert session is not None
    if session.controlled_shutdown_offset < 0:  # another controller began it
        session.controlled_shutdown_offset = turn.next_offset - 1
    active = [one.broker_id for one in turn.image.brokers.values() if one.is_active]
    lowest = turn.sessions.lowest_metadata_offset(active)
    return lowest is None or lowest >= session.controlled_shutdown_offset


def _change(broker: Broker, **changes: object) -> Message:
    return records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.broker_epoch,
        **changes,  # type: ignore[arg-type]
    )


def fence(turn: Turn, broker: Broker) -> list[MetadataRecord]:
    """Out of the in-sync sets, then out of the cluster (brokers I2)."""
    broker_id = broker.broker_id
    changes = partitions.repair(turn, partitions.in_sync_on(turn, broker_id), leaving=broker_id)
    return [*changes, turn.record(_change(broker, fenced=1))]


def _unfence(turn: Turn, broker: Broker) -> list[MetadataRecord]:
    """Back in, and into the lead where nobody leads."""
    changes = partitions.repair(turn, partitions.without_leader(turn), joining=broker.broker_id)
    return [turn.record(_change(broker, fenced=-1)), *changes]


def _begin_controlled_shutdown(turn: Turn, broker: Broker) -> list[MetadataRecord]:
    broker_id = broker.broker_id
    places = partitions.in_sync_on(turn, broker_id)
    changes = partitions.repair(turn, places, leaving=broker_id)
    session = turn.sessions.get(broker_id)
    assert session is not None
    session.controlled_shutdown_offset = turn.next_offset + len(changes)
    return [turn.record(_change(broker, in_controlled_shutdown=1)), *changes]


def _directory_changes(
    turn: Turn, broker: Broker, request: heartbeats.BrokerHeartbeatRequest
) -> list[MetadataRecord]:
    """Directories that failed, and directories that shall take no new replicas."""
    if turn.image.metadata_version < DIRECTORIES_LEVEL:
        return []
    found: list[MetadataRecord] = []
    cordoned = request.cordoned_log_dirs
    if (
        register_broker_version(turn.image.metadata_version) >= 4
        and cordoned is not None
        and tuple(cordoned) != broker.cordoned_directories
    ):
        found.append(turn.record(_change(broker, cordoned_log_dirs=list(cordoned))))
    offline = set(request.offline_log_dirs) & set(broker.directories)
    online = [one for one in broker.directories if one not in offline]
    if not offline or not online:  # a broker without any directory stops by itself
        return found
    found.append(turn.record(_change(broker, log_dirs=online)))
    places = [
        place
        for place in turn.image.partitions()
        if place[2].directory_of(broker.broker_id) in offline
        and broker.broker_id in (*place[2].isr, place[2].leader)
    ]
    found.extend(partitions.repair(turn, places, leaving=broker.broker_id))
    return found


# --- time ------------------------------------------------------------------------------------


def unfenced_ids(turn: Turn) -> list[int]:
    return [broker.broker_id for broker in turn.image.brokers.values() if not broker.fenced]


def fence_one_stale(turn: Turn) -> tuple[MetadataRecord, ...]:
    """Fence the broker whose session ended first, if any did; the next one has its own decision."""
    stale = [one for one in unfenced_ids(turn) if not turn.sessions.is_valid(one, turn.now_ms)]

    def last_contact(broker_id: int) -> tuple[int, int]:
        session = turn.sessions.get(broker_id)
        return (session.last_contact_ms if session else -1, broker_id)

    for broker_id in sorted(stale, key=last_contact)[:1]:
        return tuple(fence(turn, turn.image.brokers[broker_id]))
    return ()
