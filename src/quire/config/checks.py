"""Rules between settings: what Apache Kafka asks of a node, of a change, of a topic, of a group.

Each is a sentence about two settings or more; the first that is broken is raised as a ConfigError.

Not here   rules for one value (allowed), which settings may change at all (alter).
See        KIP-405, KIP-853, KIP-966
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import (
    advertised,
    controller_listeners,
    inter_broker_listener,
    listening,
    protocol_map,
)
from quire.config.group import GroupSettings
from quire.config.setting import MIB, Settings
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError

CODECS = range(5)
EVERYTHING = "*"
AS_THE_WHOLE_LOG = -2
FOR_EVER = -1

BETWEEN = (
    # setting of a group          least and most, as the broker has them
    ("consumer.session.timeout.ms", "consumer.{}.session.timeout.ms"),
    ("consumer.heartbeat.interval.ms", "consumer.{}.heartbeat.interval.ms"),
    ("consumer.assignment.interval.ms", "consumer.{}.assignment.interval.ms"),
    ("share.session.timeout.ms", "share.{}.session.timeout.ms"),
    ("share.heartbeat.interval.ms", "share.{}.heartbeat.interval.ms"),
    ("share.assignment.interval.ms", "share.{}.assignment.interval.ms"),
    ("share.record.lock.duration.ms", "share.{}.record.lock.duration.ms"),
    ("share.delivery.count.limit", "share.{}.delivery.count.limit"),
    ("share.partition.max.record.locks", "share.{}.partition.max.record.locks"),
    ("streams.session.timeout.ms", "streams.{}.session.timeout.ms"),
    ("streams.heartbeat.interval.ms", "streams.{}.heartbeat.interval.ms"),
    ("streams.assignment.interval.ms", "streams.{}.assignment.interval.ms"),
    ("streams.num.standby.replicas", "streams.{}.standby.replicas"),
)
FAMILIES = ("consumer", "share", "streams")

THREADS = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "log.cleaner.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
"""Counts that a change may at most double or halve."""


def check_node(settings: BrokerSettings) -> None:
    """What must hold before a node starts, and after every change."""
    _check_identity(settings)
    _check_listeners(settings)
    _check_logs(settings)
    _check_limits(settings)
    _check_coordinators(settings)


def check_change(before: BrokerSettings, after: BrokerSettings) -> None:
    """What must hold besides when a running broker's settings change."""
    check_node(after)
    for name in THREADS:
        old, new = before.value(name), after.value(name)
        if new != old and (new < 1 or not old / 2 <= new <= old * 2):
            _refuse(name, f"is {new}, but a change from {old} may at most halve or double it")
    retention_ms = _log_retention_ms(after)
    for name, local, whole in (
        ("log.local.retention.ms", after.log_local_retention_ms, retention_ms),
        ("log.local.retention.bytes", after.log_local_retention_bytes, after.log_retention_bytes),
    ):
        _check_local_retention(name, local, name.replace("local.", ""), whole)


def check_topic(topic: TopicSettings, broker: BrokerSettings, *, was_remote: bool = False) -> None:
    """What must hold of a topic's settings; `was_remote`: its segments went to remote storage."""
    if topic.min_compaction_lag_ms > topic.max_compaction_lag_ms:
        _refuse(
            "min.compaction.lag.ms",
            f"is {topic.min_compaction_lag_ms}, but must be at most max.compaction.lag.ms, "
            f"which is {topic.max_compaction_lag_ms}",
        )
    if topic.remote_storage_enable:
        _check_remote(topic, broker)
    elif was_remote and not topic.remote_log_delete_on_disable:
        _refuse(
            "remote.storage.enable", "is switched off, so remote.log.delete.on.disable must be on"
        )


def check_group(group: GroupSettings, broker: BrokerSettings) -> None:
    """What must hold of a group's settings: the broker's bounds, heartbeats within a session."""
    _check_bounds(group, broker, prefix="")
    _check_heartbeats(group, prefix="")


def _refuse(name: str, sentence: str) -> NoReturn:
    raise ConfigError(f"{name} {sentence}", setting=name)


def _check_identity(settings: BrokerSettings) -> None:
    if settings.broker_id != settings.node_id and "broker.id" in settings.given:
        _refuse("node.id", f"is {settings.node_id}, but broker.id is {settings.broker_id}")
    voters = [int(voter.partition("@")[0]) for voter in settings.controller_quorum_voters]
    if not voters and not settings.controller_quorum_bootstrap_servers:
        _refuse("controller.quorum.bootstrap.servers", "or controller.quorum.voters must be set")
    if voters and "controller" in settings.process_roles and settings.node_id not in voters:
        _refuse("controller.quorum.voters", f"must have node.id {settings.node_id} among its ids")


def _check_listeners(settings: BrokerSettings) -> None:
    here = listening(settings)
    names = [one.listener for one in here]
    ports = [one.port for one in here if one.port > 0]
    hosts = [(one.host, one.port) for one in here if one.port > 0]
    if len(set(names)) != len(names):
        _refuse("listeners", f"must have each listener's name once: {','.join(map(str, here))}")
    if len(set(hosts)) != len(hosts) or (
        len(set(ports)) != len(ports) and not _two_families(settings)
    ):
        _refuse(
            "listeners", f"must have another port for each listener: {','.join(map(str, here))}"
        )
    protocols = protocol_map(settings)
    for name in names:
        if name not in protocols:
            _refuse("listener.security.protocol.map", f"has no protocol for listener {name}")
    _check_roles(settings, names)
    if "broker" in settings.process_roles:
        _check_advertised(settings, names)
    for early in settings.early_start_listeners or ():
        if early.upper() not in (*names, *controller_listeners(settings)):
            _refuse("early.start.listeners", f"has {early}, which is not a listener")


def _two_families(settings: BrokerSettings) -> bool:
    """Whether listeners that share a port are one of IPv4 and one of IPv6, as KIP-797 allows."""
    by_port: dict[int, list[bool]] = {}
    for one in listening(settings):
        by_port.setdefault(one.port, []).append(":" in one.host)
    return all(
        len(six) == 1 or (len(six) == 2 and sum(six) == 1)
        for port, six in by_port.items()
        if port > 0
    )


def _check_roles(settings: BrokerSettings, names: list[str]) -> None:
    controllers = controller_listeners(settings)
    shared = [name for name in names if name in controllers]
    if "controller" not in settings.process_roles and shared:
        _refuse(
            "listeners", f"has {shared[0]}, which is a controller's, but the node is only a broker"
        )
    if "controller" in settings.process_roles and not shared:
        _refuse("controller.listener.names", "must have one of the names in listeners")
    if "broker" not in settings.process_roles and len(shared) != len(names):
        _refuse("listeners", "must be controllers' only, for the node is only a controller")


def _check_advertised(settings: BrokerSettings, names: list[str]) -> None:
    told = advertised(settings)
    controllers = controller_listeners(settings)
    for one in told:
        if one.host == "0.0.0.0":  # noqa: S104 -- refused, not bound
            _refuse("advertised.listeners", f"has {one}, which nobody can connect to")
        if one.listener not in (*names, *controllers):
            _refuse("advertised.listeners", f"has {one.listener}, which is not in listeners")
    if not [one for one in told if one.listener not in controllers]:
        _refuse("advertised.listeners", "must have a listener that is not a controller's")
    between = inter_broker_listener(settings)
    if between not in [one.listener for one in told]:
        _refuse("inter.broker.listener.name", f"is {between}, which is not advertised")
    named = "inter.broker.listener.name" in settings.given
    if named and "security.inter.broker.protocol" in settings.given:
        _refuse(
            "inter.broker.listener.name", "and security.inter.broker.protocol exclude each other"
        )


def _check_logs(settings: BrokerSettings) -> None:
    if _log_retention_ms(settings) == 0:
        _refuse("log.retention.ms", "is 0, but must be -1 (for ever) or at least 1")
    if settings.log_roll_ms is not None and settings.log_roll_ms < 1:
        _refuse("log.roll.ms", f"is {settings.log_roll_ms}, but must be at least 1")
    if settings.log_roll_jitter_ms is not None and settings.log_roll_jitter_ms < 0:
        _refuse("log.roll.jitter.ms", f"is {settings.log_roll_jitter_ms}, but must be at least 0")
    if settings.log_cleaner_threads < 1:
        _refuse("log.cleaner.threads", "is 0, but must be at least 1")
    if settings.log_cleaner_dedupe_buffer_size // settings.log_cleaner_threads <= MIB:
        _refuse("log.cleaner.dedupe.buffer.size", "must be more than 1 MiB for each cleaner thread")
    for directory in settings.cordoned_log_dirs:
        if directory != EVERYTHING and directory not in settings.log_directories:
            _refuse("cordoned.log.dirs", f"has {directory}, which is not in log.dirs")


def _log_retention_ms(settings: BrokerSettings) -> int:
    for synonym in BrokerSettings.log_retention_ms.synonyms:
        value = settings.value(synonym.name)
        if value is not None:
            return max(FOR_EVER, int(value) * synonym.factor)
    return FOR_EVER


def _check_limits(settings: BrokerSettings) -> None:
    for name, limit in (
        ("replica.socket.timeout.ms", settings.replica_socket_timeout_ms),
        ("replica.lag.time.max.ms", settings.replica_lag_time_max_ms),
    ):
        if limit < settings.replica_fetch_wait_max_ms:
            _refuse(name, f"is {limit}, but must be at least replica.fetch.wait.max.ms")
    if 0 < settings.queued_max_request_bytes < settings.socket_request_max_bytes:
        _refuse("queued.max.request.bytes", "must be at least socket.request.max.bytes, or none")
    overrides = connection_overrides(settings.max_connections_per_ip_overrides)
    if settings.max_connections_per_ip == 0 and not overrides:
        _refuse("max.connections.per.ip", "is 0, so max.connections.per.ip.overrides must be set")


def connection_overrides(text: str) -> dict[str, int]:
    """Address -> connections, of max.connections.per.ip.overrides."""
    found = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        address, colon, count = item.rpartition(":")
        if not colon or not count.strip().isdecimal():
            _refuse("max.connections.per.ip.overrides", f"has {item!r}, but must be address:count")
        found[address.strip()] = int(count)
    return found


def _check_coordinators(settings: BrokerSettings) -> None:
    if "classic" not in settings.group_coordinator_rebalance_protocols:
        _refuse("group.coordinator.rebalance.protocols", "must have classic")
    for name in (
        "offsets.topic.compression.codec",
        "share.coordinator.state.topic.compression.codec",
    ):
        if settings.value(name) not in CODECS:
            _refuse(name, f"is {settings.value(name)}, but must be from 0 to 4")
    if settings.group_share_max_share_sessions < settings.group_share_max_size:
        _refuse("group.share.max.share.sessions", "must be at least group.share.max.size")
    _check_bounds(settings, settings, prefix="group.")
    _check_heartbeats(settings, prefix="group.")


def _check_bounds(settings: Settings, broker: BrokerSettings, *, prefix: str) -> None:
    for suffix, least, most in _bounds():
        value = settings.value(prefix + suffix)
        if least in broker.declared and value < broker.value(least):
            _refuse(
                prefix + suffix, f"is {value}, but must be at least {least}: {broker.value(least)}"
            )
        if value > broker.value(most):
            _refuse(
                prefix + suffix, f"is {value}, but must be at most {most}: {broker.value(most)}"
            )


def _bounds() -> Iterator[tuple[str, str, str]]:
    for suffix, bound in BETWEEN:
        yield suffix, "group." + bound.format("min"), "group." + bound.format("max")


def _check_heartbeats(settings: Settings, *, prefix: str) -> None:
    for family in FAMILIES:
        session, heartbeat = (
            f"{prefix}{family}.session.timeout.ms",
            f"{prefix}{family}.heartbeat.interval.ms",
        )
        if settings.value(heartbeat) >= settings.value(session):
            _refuse(heartbeat, f"is {settings.value(heartbeat)}, but must be less than {session}")


def _check_remote(topic: TopicSettings, broker: BrokerSettings) -> None:
    if not broker.remote_log_storage_system_enable:
        _refuse("remote.storage.enable", "is true, but the broker's remote storage is switched off")
    if topic.cleanup_policy_compact:
        _refuse("remote.storage.enable", "is true, so cleanup.policy must not have compact")
    local = ((topic.local_retention_ms, "ms"), (topic.local_retention_bytes, "bytes"))
    for (value, unit), whole in zip(
        local, (topic.retention_ms, topic.retention_bytes), strict=True
    ):
        name = f"local.retention.{unit}"
        _check_local_retention(name, value, f"retention.{unit}", whole)
        if topic.remote_log_copy_disable and value not in (AS_THE_WHOLE_LOG, whole):
            _refuse("remote.log.copy.disable", f"is true, so {name} must be -2 or retention.{unit}")


def _check_local_retention(name: str, value: int, whole_name: str, whole: int) -> None:
    if value == AS_THE_WHOLE_LOG or whole == FOR_EVER:
        return
    if value == FOR_EVER or value > whole:
        _refuse(name, f"is {value}, but must be at most {whole_name}, which is {whole}")
