"""A real Apache Kafka on loopback: one combined node, for tests that hand a directory back and forth."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import peer

START_SECONDS = 90
STOP_SECONDS = 60
CLUSTER_ID = "Vy4f3xGkQ8CmJwAOnQXcYg"

LOGGING = """
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %m%n
"""


def require_java() -> None:
    """Skip, loudly, without a Java runtime or the jars."""
    if shutil.which("java") is None:
        pytest.skip("NOT CHECKED against Apache Kafka: java is not installed")
    peer.require_jars()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def node_settings(data: Path, port: int, controller_port: int) -> dict[str, str]:
    """Of one combined node, under the names that both systems know."""
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(data),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "log.cleaner.backoff.ms": "3600000",
        "group.initial.rebalance.delay.ms": "0",
    }


def wait_for_port(server: subprocess.Popen[bytes], port: int, output: Path) -> None:
    """Until somebody listens; the server's own words when it ends or does not come up."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, output.read_text()[-3000:]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens at {port}: {output.read_text()[-3000:]}")


class Kafka:
    """One node whose data directory outlives it."""

    def __init__(self, directory: Path, data: Path | None = None) -> None:
        self.directory = directory
        self.data = data or directory / "data"
        self.port, self.controller_port = free_ports(2)
        self.bootstrap = f"127.0.0.1:{self.port}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "log4j2.properties").write_text(LOGGING)
        self.properties = directory / "server.properties"
        settings = node_settings(self.data, self.port, self.controller_port)
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def command(self, main_class: str, *arguments: str) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}"
        flags = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", logging]
        return ["java", *flags, "-cp", f"{peer.jars()}/*", main_class, *arguments]

    def serving(self) -> list[str]:
        """What starts the node."""
        return self.command("kafka.Kafka", str(self.properties))

    def tool(self, main_class: str, *arguments: str, given: str | None = None) -> str:
        """What a tool prints; its own words when it fails."""
        done = subprocess.run(
            self.command(main_class, *arguments),
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{main_class} {arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def format(self) -> None:
        self.tool(
            "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID,
            "-c", str(self.properties), "--standalone",
        )  # fmt: skip

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Start it, wait until it answers, and stop it cleanly."""
        output = self.directory / "server.log"
        with output.open("ab") as log:
            server = subprocess.Popen(
                self.serving(),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        try:
            wait_for_port(server, self.port, output)
            yield
            server.terminate()
            assert server.wait(STOP_SECONDS) in (0, 143), output.read_text()[-3000:]
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()

    def create_topic(self, name: str, **configs: str) -> None:
        arguments = [
            a
            for key, value in configs.items()
            for a in ("--config", f"{key.replace('_', '.')}={value}")
        ]
        self.tool(
            "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.bootstrap, "--create",
            "--topic", name, "--partitions", "1", "--replication-factor", "1", *arguments,
        )  # fmt: skip

    def produce(self, topic: str, pairs: list[tuple[str, str]], codec: str = "none") -> None:
        self.tool(
            "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", self.bootstrap, "--topic", topic,
            "--compression-codec", codec, "--reader-property", "parse.key=true",
            "--reader-property", "key.separator=:",
            given="".join(f"{key}:{value}\n" for key, value in pairs),
        )  # fmt: skip

    def consume(
        self, topic: str, count: int, *, committed: bool = False
    ) -> list[tuple[int, str, str]]:
        """(offset, key, value) of the first `count` records."""
        printed = self.tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", self.bootstrap,
            "--topic", topic, "--from-beginning", "--max-messages", str(count), "--timeout-ms", "20000",
            "--isolation-level", "read_committed" if committed else "read_uncommitted",
            "--formatter-property", "print.key=true", "--formatter-property", "print.offset=true",
            "--formatter-property", "key.separator=\t",
        )  # fmt: skip
        rows = [line.split("\t") for line in printed.splitlines() if line.startswith("Offset:")]
        return [(int(offset.removeprefix("Offset:")), key, value) for offset, key, value in rows]

    def end_offset(self, topic: str) -> int:
        printed = self.tool(
            "org.apache.kafka.tools.GetOffsetShell",
            "--bootstrap-server",
            self.bootstrap,
            "--topic",
            topic,
        )
        return int(printed.strip().rpartition(":")[2])

    def dump(self, *arguments: str) -> str:
        return self.tool("org.apache.kafka.tools.DumpLogSegments", *arguments)
