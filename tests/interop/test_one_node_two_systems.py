"""One node's directory, run by Quire, by Apache Kafka, by Quire again, and the other way round: nothing is missed.

Each system makes topics with settings, changes settings of the other's topics, adds partitions and records, sets
quotas and credentials, and finds all that the other one left.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.interop.kafka import Kafka, require_java
from tests.interop.quire_node import QuireNode

pytestmark = [pytest.mark.peer, pytest.mark.slow]

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"


class ByKafka:
    """What is done while Apache Kafka runs, by its own tools."""

    name = "kafka"

    def __init__(self, directory: Path, data: Path) -> None:
        self.server = Kafka(directory, data)

    def ask(self, main_class: str, *arguments: str) -> str:
        return self.server.tool(main_class, "--bootstrap-server", self.server.bootstrap, *arguments)

    def make(self, topic: str, retention_ms: int) -> None:
        self.ask(TOPICS, "--create", "--topic", topic, "--partitions", "2", "--config",
                 f"retention.ms={retention_ms}")  # fmt: skip

    def set_retention(self, topic: str, retention_ms: int) -> None:
        self.ask(CONFIGS, "--alter", "--entity-type", "topics", "--entity-name", topic,
                 "--add-config", f"retention.ms={retention_ms}")  # fmt: skip

    def add_partition(self, topic: str, count: int) -> None:
        self.ask(TOPICS, "--alter", "--topic", topic, "--partitions", str(count))

    def delete(self, topic: str) -> None:
        self.ask(TOPICS, "--delete", "--topic", topic)

    def produce(self, topic: str, lines: list[str]) -> None:
        self.server.produce(topic, [("same-key", line) for line in lines], codec="zstd")

    def facts(self, topic: str) -> dict[str, Any]:
        described = self.ask(TOPICS, "--describe", "--topic", topic)
        head = described.splitlines()[0]
        ends = self.ask(OFFSETS, "--topic", topic).split()
        return {
            "id": head.split("TopicId: ")[1].split()[0],
            "retention": head.split("retention.ms=")[1].split(",")[0].split()[0],
            "ends": [int(line.rpartition(":")[2]) for line in sorted(ends)],
        }

    def values(self, topic: str, partition: int, count: int) -> list[str]:
        printed = self.ask(
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--topic", topic, "--partition",
            str(partition), "--offset", "earliest", "--max-messages", str(count),
            "--timeout-ms", "20000",
        )  # fmt: skip
        return printed.split()


class ByQuire:
    """What is done while Quire runs, by `quire`."""

    name = "quire"

    def __init__(self, directory: Path, data: Path) -> None:
        self.server = QuireNode(directory, data)

    def ask(self, *arguments: str, given: str | None = None) -> str:
        done = subprocess.run(
            self.server.command(*arguments, "-b", self.server.bootstrap),
            input=given, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make(self, topic: str, retention_ms: int) -> None:
        self.ask("topic", "create", topic, "-p", "2", "--set", f"retention.ms={retention_ms}")

    def set_retention(self, topic: str, retention_ms: int) -> None:
        self.ask("config", "set", f"topic:{topic}", f"retention.ms={retention_ms}")

    def add_partition(self, topic: str, count: int) -> None:
        self.ask("topic", "grow", topic, str(count))

    def delete(self, topic: str) -> None:
        self.ask("topic", "delete", topic, "--yes")

    def produce(self, topic: str, lines: list[str]) -> None:
        self.ask("produce", topic, "-k", "same-key", "-z", "snappy", given="\n".join(lines) + "\n")

    def facts(self, topic: str) -> dict[str, Any]:
        told = json.loads(self.ask("topic", "describe", topic, "--format", "json"))
        return {
            "id": told["id"],
            "retention": told["settings"]["retention.ms"],
            "ends": [one["end"] for one in told["partitions"]],
        }

    def values(self, topic: str, partition: int, count: int) -> list[str]:
        return self.ask("consume", topic, "start", "-p", str(partition), "-n", str(count)).split()


Run = Callable[[Path, Path], "ByKafka | ByQuire"]
LINES = [f"line-{n}" for n in range(100)]


@contextmanager
def running(run: Run, directory: Path) -> Iterator[ByKafka | ByQuire]:
    one = run(directory / run.__name__, directory / "data")
    with one.server.running():
        yield one


@pytest.mark.parametrize(("first", "second"), [(ByQuire, ByKafka), (ByKafka, ByQuire)])
def test_each_system_goes_on_with_the_others_node(tmp_path: Path, first: Run, second: Run) -> None:
    require_java()
    first(tmp_path / first.__name__, tmp_path / "data").server.format()
    with running(first, tmp_path) as one:
        one.make("kept", 111_111_111)
        one.make("dropped", 222_222_222)
        one.produce("kept", LINES)
        before = one.facts("kept")
        (partition,) = [n for n, end in enumerate(before["ends"]) if end]
    with running(second, tmp_path) as other:
        assert other.facts("kept") == before
        assert other.values("kept", partition, 100) == LINES
        other.produce("kept", LINES)
        other.set_retention("kept", 333_333_333)
        other.add_partition("kept", 3)
        other.delete("dropped")
        other.make("new", 444_444_444)
        changed = other.facts("kept")
        assert changed["id"] == before["id"]
        assert sum(changed["ends"]) == 200
        assert len(changed["ends"]) == 3
        new = other.facts("new")
    with running(first, tmp_path) as again:
        assert again.facts("kept") == changed
        assert again.facts("new") == new
        assert again.values("kept", partition, 200) == LINES + LINES
        with pytest.raises(AssertionError, match=r"dropped"):
            again.facts("dropped")
        again.produce("kept", LINES)
        assert sum(again.facts("kept")["ends"]) == 300
