"""Settings of topics, brokers, groups, loggers and subscriptions: described, replaced, changed one by one."""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case

from quire.protocol.messages import alter_configs as replacing
from quire.protocol.messages import describe_configs as describing
from quire.protocol.messages import incremental_alter_configs as changing
from quire.protocol.messages import list_config_resources as listing

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(
    *resources: tuple[int, str], v: int, keys: list[str] | None = None, **more: Any
) -> describing.DescribeConfigsRequest:
    if v >= 3:
        more.setdefault("include_documentation", True)
    more.setdefault("include_synonyms", True)
    return describing.DescribeConfigsRequest(
        resources=[
            describing.DescribeConfigsResource(
                resource_type=kind, resource_name=name, configuration_keys=keys
            )
            for kind, name in resources
        ],
        **more,
    )


def change(
    kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> Any:
    return changing.IncrementalAlterConfigsRequest(
        resources=[changed(kind, name, *changes)], validate_only=validate_only
    )


def changed(kind: int, name: str, *changes: tuple[str, int, str | None]) -> Any:
    return changing.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            changing.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def replace(
    kind: int, name: str, *settings: tuple[str, str | None], validate_only: bool = False
) -> Any:
    return replacing.AlterConfigsRequest(
        resources=[
            replacing.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    replacing.AlterableConfig(name=key, value=value) for key, value in settings
                ],
            )
        ],
        validate_only=validate_only,
    )


DESCRIPTION: list[Case] = [
    case("describe: a topic", lambda v: describe((TOPIC, "set-7"), v=v)),
    case("describe: without synonyms", lambda v: describe(
        (TOPIC, "set-7"), v=v, include_synonyms=False)),
    case("describe: without documentation", lambda v: describe(
        (TOPIC, "set-7"), v=v, include_documentation=False), since=3),
    case("describe: some keys", lambda v: describe(
        (TOPIC, "set-7"), v=v, keys=["retention.ms", "no.such", "retention.ms"])),
    case("describe: no keys", lambda v: describe((TOPIC, "set-7"), v=v, keys=[])),
    case("describe: unknown topic", lambda v: describe((TOPIC, "no-such"), v=v)),
    case("describe: bad topic name", lambda v: describe((TOPIC, "a b"), (TOPIC, ""), v=v)),
    case("describe: the broker", lambda v: describe((BROKER, "1"), v=v)),
    case("describe: all brokers", lambda v: describe((BROKER, ""), v=v)),
    case("describe: another broker", lambda v: describe((BROKER, "77"), v=v)),
    case("describe: not a broker", lambda v: describe((BROKER, "one"), (BROKER, "-1"), v=v)),
    case("describe: some keys of the broker", lambda v: describe(
        (BROKER, "1"), v=v, keys=["log.retention.ms", "log.retention.hours", "num.io.threads",
                                  "listeners", "no.such"])),
    case("describe: a group", lambda v: describe((GROUP, "some-group"), v=v)),
    case("describe: group without a name", lambda v: describe((GROUP, ""), v=v)),
    case("describe: metrics", lambda v: describe((METRICS, "some-metrics"), v=v)),
    case("describe: metrics without a name", lambda v: describe((METRICS, ""), v=v)),
    case("describe: loggers of another broker", lambda v: describe((LOGGER, "77"), v=v)),
    case("describe: loggers of nobody", lambda v: describe((LOGGER, ""), (LOGGER, "x"), v=v)),
    case("describe: unknown kinds", lambda v: describe(
        (0, "a"), (1, "a"), (3, "a"), (5, "a"), (64, "a"), (127, "a"), (-1, "a"), v=v)),
    case("describe: one unknown kind", lambda v: describe((3, "a"), v=v)),
    case("describe: kind 0", lambda v: describe((0, "a"), v=v)),
    case("describe: nothing", lambda v: describe(v=v)),
    case("describe: twice", lambda v: describe((TOPIC, "set-7"), (TOPIC, "set-7"), v=v, keys=[
        "retention.ms"])),
]  # fmt: skip

CHANGES: list[Case] = [
    case("change: set", lambda v: change(TOPIC, "set-2", ("retention.ms", SET, f"{v + 7}000"))),
    case("change: seen", lambda v: describe((TOPIC, "set-2"), v=v, keys=["retention.ms"])),
    case("change: delete", change(TOPIC, "set-3", ("retention.ms", DELETE, None))),
    case("change: delete with a value", change(TOPIC, "set-3", ("retention.ms", DELETE, "x"))),
    case("change: delete what is unknown", change(TOPIC, "set-3", ("no.such", DELETE, None))),
    case("change: append", change(TOPIC, "set-3", ("cleanup.policy", APPEND, "delete"))),
    case("change: subtract", change(TOPIC, "set-3", ("cleanup.policy", SUBTRACT, "compact"))),
    case("change: append a bad item", change(TOPIC, "set-3", ("cleanup.policy", APPEND, "x"))),
    case("change: append to no list", change(TOPIC, "set-3", ("retention.ms", APPEND, "1"))),
    case("change: append to what is unknown", change(TOPIC, "set-3", ("no.such", APPEND, "1"))),
    case("change: unknown operation", change(TOPIC, "set-3", ("retention.ms", 9, "1"))),
    case("change: negative operation", change(TOPIC, "set-3", ("retention.ms", -1, "1"))),
    case("change: null value", change(TOPIC, "set-3", ("retention.ms", SET, None))),
    case("change: null and bad", change(
        TOPIC, "set-3", ("retention.ms", SET, None), ("cleanup.policy", SET, "x"))),
    case("change: append null", change(TOPIC, "set-3", ("cleanup.policy", APPEND, None))),
    case("change: bad value", change(TOPIC, "set-3", ("retention.ms", SET, "soon"))),
    case("change: out of bounds", change(TOPIC, "set-3", ("segment.bytes", SET, "1"))),
    case("change: empty value", change(TOPIC, "set-3", ("retention.ms", SET, ""))),
    case("change: unknown name", change(TOPIC, "set-3", ("no.such", SET, "1"))),
    case("change: empty name", change(TOPIC, "set-3", ("", SET, "1"))),
    case("change: a name twice", change(
        TOPIC, "set-3", ("retention.ms", SET, "1"), ("retention.ms", SET, "2"))),
    case("change: validate only", change(
        TOPIC, "set-3", ("retention.ms", SET, "99"), validate_only=True)),
    case("change: validate only, bad", change(
        TOPIC, "set-3", ("retention.ms", SET, "x"), validate_only=True)),
    case("change: nothing of a topic", change(TOPIC, "set-3")),
    case("change: unknown topic", change(TOPIC, "no-such", ("retention.ms", SET, "1"))),
    case("change: bad topic name", change(TOPIC, "a b", ("retention.ms", SET, "1"))),
    case("change: no topic name", change(TOPIC, "", ("retention.ms", SET, "1"))),
    case("change: a resource twice", changing.IncrementalAlterConfigsRequest(resources=[
        changed(TOPIC, "set-3", ("retention.ms", SET, "1")),
        changed(TOPIC, "set-3", ("retention.ms", SET, "2"))], validate_only=False)),
    case("change: good and bad resources", changing.IncrementalAlterConfigsRequest(resources=[
        changed(TOPIC, "set-3", ("retention.ms", SET, "5000")),
        changed(TOPIC, "no-such", ("retention.ms", SET, "2")),
        changed(BROKER, "1", ("num.io.threads", SET, "9"))], validate_only=False)),
    case("change: nothing", changing.IncrementalAlterConfigsRequest(
        resources=[], validate_only=False)),
    case("change: the broker", change(BROKER, "1", ("log.retention.ms", SET, "86400000"))),
    case("change: the broker, undone", change(
        BROKER, "1", ("log.retention.ms", DELETE, None), ("num.io.threads", DELETE, None))),
    case("change: all brokers", change(BROKER, "", ("log.retention.ms", SET, "86400000"))),
    case("change: all brokers, seen", lambda v: describe((BROKER, ""), v=v)),
    case("change: all brokers, undone", change(BROKER, "", ("log.retention.ms", DELETE, None))),
    case("change: read only", change(BROKER, "1", ("node.id", SET, "9"))),
    case("change: read only for all", change(BROKER, "", ("process.roles", SET, "broker"))),
    case("change: one broker's for all", change(BROKER, "", ("listeners", SET, "A://:1"))),
    case("change: unknown of the broker", change(BROKER, "1", ("no.such", SET, "9"))),
    case("change: unknown of the broker, undone", change(BROKER, "1", ("no.such", DELETE, None))),
    case("change: bad value of the broker", change(BROKER, "1", ("num.io.threads", SET, "x"))),
    case("change: out of bounds of the broker", change(BROKER, "1", ("num.io.threads", SET, "0"))),
    case("change: threads too many", change(BROKER, "1", ("num.io.threads", SET, "99999"))),
    case("change: another broker", change(BROKER, "77", ("num.io.threads", SET, "9"))),
    case("change: not a broker", change(BROKER, "one", ("num.io.threads", SET, "9"))),
    case("change: append to a broker's number", change(BROKER, "1", ("num.io.threads", APPEND, "9"))),
    case("change: the cluster's least in-sync replicas", change(
        BROKER, "", ("min.insync.replicas", SET, "1"))),
    case("change: the cluster's least in-sync replicas, undone", change(
        BROKER, "", ("min.insync.replicas", DELETE, None))),
    case("change: a broker's least in-sync replicas", change(
        BROKER, "1", ("min.insync.replicas", SET, "2"))),
    case("change: a group", change(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))),
    case("change: a group seen", lambda v: describe((GROUP, "g"), v=v)),
    case("change: a group out of bounds", change(
        GROUP, "g", ("consumer.session.timeout.ms", SET, "1"))),
    case("change: a group unknown", change(GROUP, "g", ("no.such", SET, "1"))),
    case("change: group without a name", change(
        GROUP, "", ("consumer.session.timeout.ms", SET, "50000"))),
    case("change: metrics", change(METRICS, "m", ("interval.ms", SET, "1000"))),
    case("change: metrics seen", lambda v: describe((METRICS, "m"), v=v)),
    case("change: metrics out of bounds", change(METRICS, "m", ("interval.ms", SET, "1"))),
    case("change: metrics unknown", change(METRICS, "m", ("no.such", SET, "1"))),
    case("change: metrics match", change(METRICS, "m", ("match", SET, "client_id=.*"))),
    case("change: metrics bad match", change(METRICS, "m", ("match", SET, "who=.*"))),
    case("change: metrics bad pattern", change(METRICS, "m", ("match", SET, "client_id=("))),
    case("change: metrics without a name", change(METRICS, "", ("interval.ms", SET, "1000"))),
    case("change: unknown kind", change(3, "x", ("a", SET, "1"))),
    case("change: kind 0", change(0, "x", ("a", SET, "1"))),
    case("change: loggers of another broker", change(LOGGER, "77", ("ROOT", SET, "INFO"))),
    case("change: loggers of nobody", change(LOGGER, "x", ("ROOT", SET, "INFO"))),
    case("change: loggers without a name", change(LOGGER, "", ("ROOT", SET, "INFO"))),
    case("change: root logger", change(LOGGER, "1", ("ROOT", SET, "INFO"))),
    case("change: no root logger", change(LOGGER, "1", ("ROOT", DELETE, None))),
    case("change: bad level", change(LOGGER, "1", ("ROOT", SET, "LOUD"))),
    case("change: null level", change(LOGGER, "1", ("ROOT", SET, None))),
    case("change: append to a logger", change(LOGGER, "1", ("ROOT", APPEND, "INFO"))),
    case("change: unknown logger", change(LOGGER, "1", ("no.such.logger", SET, "INFO"))),
    case("change: list resources", lambda v: listing.ListConfigResourcesRequest()),
    case("change: list some resources", lambda v: listing.ListConfigResourcesRequest(
        resource_types=[METRICS, GROUP]), since=1),
    case("change: list brokers and topics", lambda v: listing.ListConfigResourcesRequest(
        resource_types=[BROKER, LOGGER]), since=1),
    case("change: list unknown kinds", lambda v: listing.ListConfigResourcesRequest(
        resource_types=[3]), since=1),
    case("change: list known and unknown kinds", lambda v: listing.ListConfigResourcesRequest(
        resource_types=[METRICS, 0]), since=1),
]  # fmt: skip

REPLACEMENTS: list[Case] = [
    case("replace", lambda v: replace(TOPIC, "set-4", ("retention.ms", f"{v + 7}000"))),
    case("replace: seen", lambda v: describe((TOPIC, "set-4"), v=v)),
    case("replace: by nothing", replace(TOPIC, "set-5")),
    case("replace: bad value", replace(TOPIC, "set-4", ("retention.ms", "soon"))),
    case("replace: unknown name", replace(TOPIC, "set-4", ("no.such", "1"))),
    case("replace: null", replace(TOPIC, "set-4", ("retention.ms", None))),
    case("replace: twice", replace(TOPIC, "set-4", ("retention.ms", "1"), ("retention.ms", "2"))),
    case("replace: unknown topic", replace(TOPIC, "no-such", ("retention.ms", "1"))),
    case("replace: validate only", replace(
        TOPIC, "set-4", ("retention.ms", "99"), validate_only=True)),
    case("replace: all brokers", replace(BROKER, "", ("log.retention.ms", "86400000"))),
    case("replace: all brokers by nothing", replace(BROKER, "")),
    case("replace: all brokers, seen", lambda v: describe((BROKER, ""), v=v)),
    case("replace: the broker", replace(BROKER, "1", ("log.retention.ms", "86400000"))),
    case("replace: the broker by nothing", replace(BROKER, "1")),
    case("replace: read only", replace(BROKER, "1", ("node.id", "9"))),
    case("replace: another broker", replace(BROKER, "77", ("num.io.threads", "9"))),
    case("replace: a group", replace(GROUP, "h", ("consumer.session.timeout.ms", "50000"))),
    case("replace: metrics", replace(METRICS, "n", ("interval.ms", "1000"))),
    case("replace: loggers", replace(LOGGER, "1", ("ROOT", "INFO"))),
    case("replace: unknown kind", replace(3, "x", ("a", "1"))),
]  # fmt: skip

CASES = [*DESCRIPTION, *CHANGES, *REPLACEMENTS]
