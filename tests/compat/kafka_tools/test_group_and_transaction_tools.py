"""Apache Kafka's own tools for groups and transactions against the cluster under test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compat.client import Client, Sent, eventually, new_name
from tests.compat.environments import java_program
from tests.compat.kafka_tools.test_kafka_tools import TOOLS, Tools
from tests.compat.scenarios import KEPT, START_MS
from tests.interop.kafka import require_java

pytestmark = pytest.mark.compat

GROUPS = TOOLS + "consumer.group.ConsumerGroupCommand"
ALL_GROUPS = TOOLS + "GroupsCommand"
TRANSACTIONS = TOOLS + "TransactionsCommand"
DRIVER = Path(__file__).parents[1] / "java" / "Driver.java"


@pytest.fixture
def tools(tmp_path: Path, bootstrap: str) -> Tools:
    require_java()
    return Tools(tmp_path / "tools", bootstrap)


@pytest.fixture
def client(bootstrap: str) -> Client:
    return Client(java_program("java", DRIVER, main_class="Driver"), bootstrap)


def rows(printed: str) -> list[dict[str, str]]:
    """The table that a tool printed, by the names of its columns."""
    lines = [line for line in printed.splitlines() if line.strip()]
    (start,) = [n for n, line in enumerate(lines) if re.match(r"[A-Za-z-]+\s*\t*\s*[A-Z]", line)][
        :1
    ]
    names = re.split(r"\s+", lines[start].strip())
    return [dict(zip(names, line.split(), strict=False)) for line in lines[start + 1 :]]


@pytest.fixture
def read_by(tools: Tools, client: Client, topic: Callable[..., str]) -> tuple[str, str]:
    """A topic of two partitions with 20 records in each, and a group that has read it to its end and has gone."""
    name, group = topic(partitions=2, **KEPT), new_name("readers")
    client.produce(
        name,
        [Sent(None, b"%d" % n, partition=n % 2, timestamp=START_MS + n) for n in range(40)],
    )
    printed = tools.run(
        TOOLS + "consumer.ConsoleConsumer", "--topic", name, "--group", group, "--from-beginning",
        "--max-messages", "40", "--timeout-ms", "20000",
    )  # fmt: skip
    assert len(printed.split()) == 40
    return name, group


def offsets(tools: Tools, group: str) -> dict[str, str]:
    told = rows(tools.run(GROUPS, "--describe", "--group", group, "--offsets"))
    return {row["PARTITION"]: row["CURRENT-OFFSET"] for row in told}


def test_kafka_consumer_groups_lists_and_describes(tools: Tools, read_by: tuple[str, str]) -> None:
    name, group = read_by
    assert group in tools.run(GROUPS, "--list").split()
    (listed,) = [
        row for row in rows(tools.run(GROUPS, "--list", "--state")) if row["GROUP"] == group
    ]
    assert listed["STATE"] == "Empty"
    (typed,) = [row for row in rows(tools.run(GROUPS, "--list", "--type")) if row["GROUP"] == group]
    assert typed["TYPE"] == "Classic"
    told = rows(tools.run(GROUPS, "--describe", "--group", group))
    assert {(row["TOPIC"], row["PARTITION"]) for row in told} == {(name, "0"), (name, "1")}
    assert {(row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"]) for row in told} == {
        ("20", "20", "0")
    }
    state = tools.run(GROUPS, "--describe", "--group", group, "--state")
    assert re.search(rf"{group}.*Empty\s+0", state), state
    (all_groups,) = [row for row in rows(tools.run(ALL_GROUPS, "--list")) if row["GROUP"] == group]
    assert (all_groups["TYPE"], all_groups["PROTOCOL"]) == ("Classic", "consumer")


def test_kafka_consumer_groups_describes_members_that_are_there(
    tools: Tools, client: Client, topic: Callable[..., str]
) -> None:
    name, group = topic(partitions=2), new_name("members")
    member = client.join(name, group)
    try:
        assert eventually(lambda: member.assigned == [0, 1])
        told = tools.run(GROUPS, "--describe", "--group", group, "--members", "--verbose")
        (row,) = rows(told)
        assert (row["GROUP"], row["#PARTITIONS"]) == (group, "2")
        assert f"{name}(0,1)" in told.replace(":0,1", "(0,1)")
        state = tools.run(GROUPS, "--describe", "--group", group, "--state")
        assert re.search(rf"{group}\s.*\srange\s+Stable\s+1", state), state
        refused = tools.run(GROUPS, "--delete", "--group", group)
        assert "GroupNotEmptyException" in refused
        member.leave()
    finally:
        member.discard()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (("--to-earliest",), "0"),
        (("--to-latest",), "20"),
        (("--to-offset", "7"), "7"),
        (("--shift-by", "-5"), "15"),
        (("--to-datetime", "2023-11-14T22:13:20.010"), "5"),
        (("--to-current",), "20"),
    ],
)
def test_kafka_consumer_groups_resets_offsets(
    tools: Tools, read_by: tuple[str, str], target: tuple[str, ...], expected: str
) -> None:
    name, group = read_by
    given = ("--reset-offsets", "--group", group, "--topic", name, *target)
    planned = rows(tools.run(GROUPS, *given, "--dry-run"))
    assert {row["NEW-OFFSET"] for row in planned} == {expected}
    assert set(offsets(tools, group).values()) == {"20"}
    tools.run(GROUPS, *given, "--execute")
    assert offsets(tools, group) == {"0": expected, "1": expected}


def test_kafka_consumer_groups_forgets_offsets_and_groups(
    tools: Tools, read_by: tuple[str, str]
) -> None:
    name, group = read_by
    told = tools.run(GROUPS, "--delete-offsets", "--group", group, "--topic", f"{name}:0")
    assert "Successful" in told
    assert offsets(tools, group).get("0", "-") == "-"
    assert offsets(tools, group)["1"] == "20"
    assert "was successful" in tools.run(GROUPS, "--delete", "--group", group)
    assert group not in tools.run(GROUPS, "--list").split()
    assert "GroupIdNotFoundException" in tools.run(GROUPS, "--delete", "--group", group)


@pytest.fixture
def left_open(client: Client, topic: Callable[..., str]) -> tuple[str, str]:
    """A topic, and the transactional id of a transaction that nobody ends."""
    name, transactional_id = topic(), new_name("open")
    record = Sent(b"k", b"open").told()
    client.run(
        {"do": "begin", "producer": "p", "name": transactional_id, "timeout": 600_000},
        {"do": "transact", "producer": "p", "topic": name, "records": [record], "end": "leave"},
    )
    return name, transactional_id


def test_kafka_transactions_lists_describes_finds_and_aborts(
    tools: Tools, left_open: tuple[str, str]
) -> None:
    name, transactional_id = left_open
    (listed,) = [
        row for row in rows(tools.run(TRANSACTIONS, "list"))
        if row["TransactionalId"] == transactional_id
    ]  # fmt: skip
    assert listed["TransactionState"] == "Ongoing"
    (told,) = rows(tools.run(TRANSACTIONS, "describe", "--transactional-id", transactional_id))
    assert told["TransactionState"] == "Ongoing"
    assert told["ProducerId"] == listed["ProducerId"]
    described = tools.run(TRANSACTIONS, "describe", "--transactional-id", transactional_id)
    assert f"{name}-0" in described
    (producer,) = rows(
        tools.run(TRANSACTIONS, "describe-producers", "--topic", name, "--partition", "0")
    )
    assert producer["ProducerId"] == listed["ProducerId"]
    assert producer["CurrentTransactionStartOffset"] == "0"
    hanging = tools.run(
        TRANSACTIONS, "find-hanging", "--topic", name, "--max-transaction-timeout", "0"
    )
    assert listed["ProducerId"] not in hanging, "its coordinator knows it, so it does not hang"
    tools.run(TRANSACTIONS, "abort", "--topic", name, "--partition", "0", "--start-offset", "0")
    (after,) = rows(
        tools.run(TRANSACTIONS, "describe-producers", "--topic", name, "--partition", "0")
    )
    assert after["CurrentTransactionStartOffset"] == "None"


def test_kafka_transactions_forces_the_end_of_a_transaction(
    tools: Tools, left_open: tuple[str, str]
) -> None:
    _, transactional_id = left_open
    tools.run(TRANSACTIONS, "forceTerminateTransaction", "--transactionalId", transactional_id)

    def state() -> str:
        (row,) = rows(tools.run(TRANSACTIONS, "describe", "--transactional-id", transactional_id))
        return row["TransactionState"]

    assert eventually(lambda: state() in ("CompleteAbort", "Empty"))


def test_the_consumer_perf_tool_reads_and_measures(tools: Tools, topic: Callable[..., str]) -> None:
    name = topic()
    tools.run(
        TOOLS + "ProducerPerformance", "--topic", name, "--num-records", "20000", "--record-size", "100",
        "--throughput", "-1",
    )  # fmt: skip
    told = tools.run(
        TOOLS + "ConsumerPerformance", "--topic", name, "--num-records", "20000", "--group",
        new_name("perf"), "--timeout", "20000",
    )  # fmt: skip
    (row,) = [line.split(", ") for line in told.splitlines() if re.match(r"\d{4}-", line)]
    assert int(row[4]) == 20000


def test_the_verifiable_consumer_reads_and_commits(
    tools: Tools, client: Client, topic: Callable[..., str]
) -> None:
    name, group = topic(**KEPT), new_name("verifiable")
    client.produce(name, [Sent(None, b"%d" % n) for n in range(100)])
    told = tools.run(
        TOOLS + "VerifiableConsumer", "--topic", name, "--group-id", group, "--max-messages", "100",
        "--reset-policy", "earliest",
    )  # fmt: skip
    events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert sum(one["count"] for one in events if one["name"] == "records_consumed") == 100
    assert all(one["success"] for one in events if one["name"] == "offsets_committed")
    assert offsets(tools, group) == {"0": "100"}


def test_the_transactional_copier_copies_everything_once(
    tools: Tools, client: Client, topic: Callable[..., str]
) -> None:
    source, target = topic(**KEPT), topic(**KEPT)
    sent = [Sent(None, b"%d" % n) for n in range(200)]
    client.produce(source, sent)
    told = tools.offline(
        TOOLS + "TransactionalMessageCopier", "--broker-list", tools.bootstrap, "--input-topic", source,
        "--input-partition", "0", "--output-topic", target, "--max-messages", "200",
        "--transaction-size", "15", "--transactional-id", new_name("copier"), "--consumer-group",
        new_name("copiers"), "--enable-random-aborts",
    )  # fmt: skip
    last = json.loads(told.strip().splitlines()[-1])
    assert (last["consumed"], last["remaining"]) == (200, 0)
    got = client.consume(target, 200, committed=True)
    assert [one.value for one in got] == [one.value for one in sent]


def test_kafka_streams_application_reset_rewinds_a_group_and_removes_its_topics(
    tools: Tools, client: Client, read_by: tuple[str, str]
) -> None:
    name, group = read_by
    internal = f"{group}-counts-changelog"
    client.do("create_topic", topic=internal, partitions=1, configs={})
    assert eventually(lambda: internal in client.do("topics"))
    tools.run(
        TOOLS + "StreamsResetter", "--application-id", group, "--input-topics", name,
        "--internal-topics", internal, "--force",
    )  # fmt: skip
    assert offsets(tools, group) == {"0": "0", "1": "0"}
    assert eventually(lambda: internal not in client.do("topics"))


def test_kafka_streams_groups_finds_none(tools: Tools) -> None:
    assert tools.run(TOOLS + "streams.StreamsGroupCommand", "--list").strip() == ""
