"""Apache Kafka's own command-line tools against the cluster under test."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.compat import wire
from tests.compat.client import eventually, new_name
from tests.interop.kafka import Kafka, require_java

from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import encode_batch
from quire.records.record import Record
from quire.tools.main import quire

pytestmark = pytest.mark.compat

TOOLS = "org.apache.kafka.tools."
TOPICS, CONFIGS = TOOLS + "TopicCommand", "kafka.admin.ConfigCommand"


class Tools:
    """The tools of a Kafka that does not run, asked about the cluster that does."""

    def __init__(self, directory: Path, bootstrap: str) -> None:
        self._kafka = Kafka(directory)
        self.bootstrap = bootstrap

    def run(self, main_class: str, *arguments: str, given: str | None = None) -> str:
        return self._kafka.tool(
            main_class, "--bootstrap-server", self.bootstrap, *arguments, given=given
        )

    def offline(self, main_class: str, *arguments: str) -> str:
        return self._kafka.tool(main_class, *arguments)

    def fails(self, main_class: str, *arguments: str) -> str:
        with pytest.raises(AssertionError) as failed:
            self.run(main_class, *arguments)
        return str(failed.value)


@pytest.fixture
def tools(tmp_path: Path, bootstrap: str) -> Tools:
    require_java()
    return Tools(tmp_path / "tools", bootstrap)


def test_kafka_topics_makes_lists_describes_grows_and_deletes(tools: Tools) -> None:
    name = new_name("by-tool")
    tools.run(
        TOPICS, "--create", "--topic", name, "--partitions", "2", "--replication-factor", "1",
        "--config", "retention.ms=123456",
    )  # fmt: skip
    assert "already exists" in tools.fails(TOPICS, "--create", "--topic", name)
    assert name in tools.run(TOPICS, "--list").split()
    told = tools.run(TOPICS, "--describe", "--topic", name)
    assert re.search(
        r"PartitionCount: 2\s+ReplicationFactor: 1\s+Configs:.*retention.ms=123456", told
    )
    assert len(re.findall(r"Partition: \d\s+Leader: 1\s+Replicas: 1\s+Isr: 1", told)) == 2
    tools.run(TOPICS, "--alter", "--topic", name, "--partitions", "3")
    assert eventually(
        lambda: "PartitionCount: 3" in tools.run(TOPICS, "--describe", "--topic", name)
    )
    tools.run(TOPICS, "--delete", "--topic", name)
    assert eventually(lambda: name not in tools.run(TOPICS, "--list").split())


def test_kafka_configs_sets_shows_and_takes_back(tools: Tools, topic: Callable[..., str]) -> None:
    name = topic()
    of_topic = ("--entity-type", "topics", "--entity-name", name)
    tools.run(
        CONFIGS, "--alter", *of_topic, "--add-config", "retention.ms=99,cleanup.policy=compact"
    )
    told = tools.run(CONFIGS, "--describe", *of_topic)
    assert "retention.ms=99" in told
    assert "cleanup.policy=compact" in told
    tools.run(CONFIGS, "--alter", *of_topic, "--delete-config", "cleanup.policy")
    assert "cleanup.policy" not in tools.run(CONFIGS, "--describe", *of_topic)
    assert "cleanup.policy=delete" in tools.run(CONFIGS, "--describe", "--all", *of_topic)
    of_broker = ("--entity-type", "brokers", "--entity-name", "1")
    tools.run(CONFIGS, "--alter", *of_broker, "--add-config", "log.cleaner.threads=2")
    assert "log.cleaner.threads=2" in tools.run(CONFIGS, "--describe", *of_broker)
    tools.run(CONFIGS, "--alter", *of_broker, "--delete-config", "log.cleaner.threads")
    refused = tools.fails(CONFIGS, "--alter", *of_topic, "--add-config", "no.such.setting=1")
    assert "no.such.setting" in refused


def test_quotas_and_credentials_are_kept(tools: Tools) -> None:
    client = new_name("client")
    of_client = ("--entity-type", "clients", "--entity-name", client)
    tools.run(CONFIGS, "--alter", *of_client, "--add-config", "producer_byte_rate=1024")
    assert eventually(
        lambda: "producer_byte_rate=1024" in tools.run(CONFIGS, "--describe", *of_client)
    )
    of_user = ("--entity-type", "users", "--entity-name", new_name("user"))
    tools.run(
        CONFIGS,
        "--alter",
        *of_user,
        "--add-config",
        "SCRAM-SHA-256=[iterations=4096,password=secret]",
    )
    assert eventually(
        lambda: "SCRAM-SHA-256=iterations=4096" in tools.run(CONFIGS, "--describe", *of_user)
    )


def test_the_console_writes_reads_and_offsets_follow(
    tools: Tools, topic: Callable[..., str], tmp_path: Path
) -> None:
    name = topic()
    lines = [f"key{n}:value{n}" for n in range(100)]
    tools.run(
        TOOLS + "ConsoleProducer", "--topic", name, "--compression-codec", "lz4",
        "--reader-property", "parse.key=true", "--reader-property", "key.separator=:",
        given="\n".join(lines) + "\n",
    )  # fmt: skip
    printed = tools.run(
        TOOLS + "consumer.ConsoleConsumer", "--topic", name, "--partition", "0", "--offset",
        "earliest", "--max-messages", "100", "--timeout-ms", "20000",
        "--formatter-property", "print.key=true", "--formatter-property", "key.separator=:",
    )  # fmt: skip
    assert printed.split() == lines
    offsets = TOOLS + "GetOffsetShell"
    assert tools.run(offsets, "--topic", name).strip() == f"{name}:0:100"
    wanted = {"partitions": [{"topic": name, "partition": 0, "offset": 40}], "version": 1}
    plan = tmp_path / "delete.json"
    plan.write_text(json.dumps(wanted))
    told = tools.run(TOOLS + "DeleteRecordsCommand", "--offset-json-file", str(plan))
    assert f"partition: {name}-0\tlow_watermark: 40" in told
    assert tools.run(offsets, "--topic", name, "--time", "earliest").strip() == f"{name}:0:40"


def test_log_dirs_and_dump_log_see_the_same_bytes(
    tools: Tools, topic: Callable[..., str], data: Path
) -> None:
    name = topic()
    tools.run(
        TOOLS + "ConsoleProducer", "--topic", name, given="".join(f"line {n}\n" for n in range(50))
    )
    told = tools.run(TOOLS + "LogDirsCommand", "--describe", "--topic-list", name)
    (line,) = [line for line in told.splitlines() if line.startswith("{")]
    (broker,) = json.loads(line)["brokers"]
    (directory,) = broker["logDirs"]
    (partition,) = directory["partitions"]
    segment = data / f"{name}-0" / f"{0:020}.log"
    assert directory["logDir"] == str(data)
    assert partition["partition"] == f"{name}-0"
    assert partition["size"] == segment.stat().st_size > 0
    dumped = tools.offline(
        TOOLS + "DumpLogSegments", "--deep-iteration", "--print-data-log", "--files", str(segment)
    )
    assert len(re.findall(r"payload: line \d+", dumped)) == 50


def test_the_perf_tools_produce_consume_and_measure(
    tools: Tools, topic: Callable[..., str]
) -> None:
    name = topic()
    told = tools.run(
        TOOLS + "ProducerPerformance", "--topic", name, "--num-records", "20000", "--record-size", "200",
        "--throughput", "-1",
    )  # fmt: skip
    assert "20000 records sent" in told
    measured = tools.run(TOOLS + "EndToEndLatency", "--topic", name, "--num-records", "50",
                         "--record-size", "100", "--producer-acks", "1")  # fmt: skip
    assert "Avg latency" in measured


def test_the_verifiable_producer_counts_what_was_acknowledged(
    tools: Tools, topic: Callable[..., str]
) -> None:
    told = tools.run(TOOLS + "VerifiableProducer", "--topic", topic(), "--max-messages", "100")
    (summary,) = [line for line in told.splitlines() if '"name":"tool_data"' in line]
    assert json.loads(summary)["acked"] == 100


def test_the_cluster_its_features_its_quorum_and_its_versions_are_told(tools: Tools) -> None:
    listed = tools.run(TOOLS + "BrokerApiVersionsCommand")
    assert "Produce(0): 0 to 13 [usable: 13]" in listed
    told = tools.offline(TOOLS + "ClusterTool", "cluster-id", "--bootstrap-server", tools.bootstrap)
    assert re.search(r"Cluster ID: \S{22}", told)
    features = tools.run(TOOLS + "FeatureCommand", "describe")
    assert re.search(r"Feature: metadata.version.*FinalizedVersionLevel: 4.3-IV0", features)
    quorum = tools.run(TOOLS + "MetadataQuorumCommand", "describe", "--status")
    assert re.search(r"LeaderId:\s+1\b", quorum)
    replication = tools.run(TOOLS + "MetadataQuorumCommand", "describe", "--replication")
    assert re.search(r"^1\s.*Leader", replication, re.MULTILINE)


def test_reassignments_elections_and_client_metrics_answer(
    tools: Tools, topic: Callable[..., str]
) -> None:
    name = topic()
    reassign = TOOLS + "reassign.ReassignPartitionsCommand"
    assert "No partition reassignments found." in tools.run(reassign, "--list")
    election = tools.run(
        TOOLS + "LeaderElectionCommand", "--election-type", "preferred", "--topic", name,
        "--partition", "0",
    )  # fmt: skip
    assert f"Valid replica already elected for partitions {name}-0" in election
    metrics = ("--name", new_name("metrics"))
    tools.run(TOOLS + "ClientMetricsCommand", "--alter", *metrics, "--interval", "1000")
    assert eventually(
        lambda: (
            "interval.ms=1000" in tools.run(TOOLS + "ClientMetricsCommand", "--describe", *metrics)
        )
    )


def quire_says(bootstrap: str, *arguments: str) -> str:
    """What our own command prints of the same cluster."""
    done = CliRunner().invoke(quire, [*arguments, "-b", bootstrap], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_groups_have_the_same_figures_in_both_command_lines(
    tools: Tools, topic: Callable[..., str], tmp_path: Path
) -> None:
    groups = TOOLS + "consumer.group.ConsumerGroupCommand"
    name, group = topic(partitions=2), new_name("group")
    tools.run(
        TOOLS + "ConsoleProducer", "--topic", name, given="".join(f"line {n}\n" for n in range(50))
    )
    reset = ("group", "reset", group, "--execute")
    quire_says(tools.bootstrap, *reset, "--topic", name, "--to-offset", "3")
    ours = json.loads(quire_says(tools.bootstrap, "group", "describe", group, "--format", "json"))[
        0
    ]["partitions"]
    theirs = tools.run(groups, "--describe", "--group", group)
    assert sum(one["lag"] for one in ours) == sum(max(one["end"] - 3, 0) for one in ours)
    for one in ours:
        figures = (one["partition"], one["committed"], one["end"], one["lag"])
        assert re.search(rf"{name}\s+" + r"\s+".join(map(str, figures)) + r"\s", theirs)
        assert (one["lag_seconds"] > 0) is (one["lag"] > 0)
    saved = tmp_path / "offsets.csv"
    saved.write_text(quire_says(tools.bootstrap, "group", "export", group))
    quire_says(tools.bootstrap, *reset, "--to-latest")
    tools.run(groups, "--reset-offsets", "--group", group, "--from-file", str(saved), "--execute")
    assert quire_says(tools.bootstrap, "group", "export", group) == saved.read_text()
    quire_says(tools.bootstrap, "group", "delete", group, "--yes")
    assert group not in tools.run(groups, "--list").split()


def test_a_transaction_that_hangs_is_found_by_both_and_ended_by_ours(
    tools: Tools, topic: Callable[..., str]
) -> None:
    name, transactions = topic(), TOOLS + "TransactionsCommand"
    find = ("find-hanging", "--topic", name, "--max-transaction-timeout", "0")
    setting = "transaction.partition.verification.enable"
    quire_says(tools.bootstrap, "config", "set", "broker:1", f"{setting}=false")
    try:
        abandoned = encode_batch(
            [Record(0, int(time.time() * 1000), None, b"x")],
            producer_id=4711, producer_epoch=0, base_sequence=0, is_transactional=True,
        )  # fmt: skip
        data = [PartitionProduceData(index=0, records=bytes(abandoned))]
        request = ProduceRequest(
            transactional_id="nobody's", acks=-1, timeout_ms=5000,
            topic_data=[TopicProduceData(name=name, partition_data=data)],
        )  # fmt: skip
        answer = wire.ask(tools.bootstrap, request, 11)
        assert answer.responses[0].partition_responses[0].error_code == 0
    finally:
        quire_says(tools.bootstrap, "config", "unset", "broker:1", setting)
    assert re.search(rf"{name}\s+0\s+4711\s", tools.run(transactions, *find))
    search = ("txn", "find-hanging", "--topic", name, "--format", "json")
    (found,) = json.loads(quire_says(tools.bootstrap, *search))
    assert (found["producer_id"], found["start_offset"]) == (4711, 0)
    quire_says(tools.bootstrap, "txn", "abort", f"{name}:0", "--producer-id", "4711", "--yes")
    assert json.loads(quire_says(tools.bootstrap, *search)) == []
    assert "4711" not in tools.run(transactions, *find)
