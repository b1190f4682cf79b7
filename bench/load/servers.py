"""The two contestants: a Quire node and an Apache Kafka node, each alone on its directory, with the same settings.

Both are started from the same properties file with the command that a person would use, are asked over the wire, and
are measured through /proc: CPU of all threads, resident memory, its peak.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from measure import ROOT

sys.path.insert(0, str(ROOT))

from tests import peer

from quire.protocol.connection import ClientFraming
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from quire.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from quire.protocol.messages.metadata import MetadataRequest
from quire.protocol.schema import ZERO_UUID

START_SECONDS = 60
STOP_SECONDS = 60
PAUSE_SECONDS = 0.001
CLUSTER_ID = "Vy4f3xGkQ8CmJwAOnQXcYg"
LOGGING = """
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %m%n
"""
SHIPPED_FLAGS = (
    "-Xms1g", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)  # fmt: skip
"""What Apache Kafka's own start script gives the virtual machine."""
SHIPPED_SETTINGS = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "num.recovery.threads.per.data.dir": "2",
}
"""What the distribution's own configuration file says."""
LARGE_BUFFERS = {
    "socket.send.buffer.bytes": "2097152",
    "socket.receive.buffer.bytes": "2097152",
}


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Server:
    """One combined node, stopped; a subclass says by which commands."""

    name = ""

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.port, controller_port = free_ports(2)
        self.process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True)
        self.properties = directory / "server.properties"
        self.output = directory / "server.log"
        everything = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(directory / "data"),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "auto.create.topics.enable": "false",
            **SHIPPED_SETTINGS,
            **(settings or {}),
        }
        lines = [f"{name}={value}\n" for name, value in everything.items()]
        self.properties.write_text("".join(lines))
        self.format()

    def format(self) -> None:
        raise NotImplementedError

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> float:
        """Start it; the seconds from there to the first answered Metadata that knows a broker."""
        began = time.perf_counter()
        with self.output.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        try:
            self.until(MetadataRequest(topics=[]), 12, lambda answer: bool(answer.brokers))
        except BaseException:
            self.stop()
            raise
        return time.perf_counter() - began

    def until(self, request: Any, version: int, holds: Callable[[Any], bool]) -> None:
        """Ask the same again until the answer is as it should be."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended: {self.output.read_text()[-2000:]}")
            with contextlib.suppress(OSError, struct.error), self.asker() as asker:
                while time.monotonic() < deadline:
                    if holds(asker.ask(request, version)):
                        return
                    time.sleep(PAUSE_SECONDS)
            time.sleep(PAUSE_SECONDS)
        raise RuntimeError(f"{self.name} is not ready: {self.output.read_text()[-2000:]}")

    def until_led(self, topic: str, partitions: int) -> None:
        """Until every partition answers, as its leader, where it ends."""
        latest = [
            ListOffsetsPartition(partition_index=number, timestamp=-1)
            for number in range(partitions)
        ]
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=latest)]
        )
        self.until(request, 7, all_answer)

    def stop(self) -> float:
        """Stop it cleanly; how long that took."""
        if self.process is None:
            return 0.0
        began = time.perf_counter()
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        return time.perf_counter() - began

    @contextlib.contextmanager
    def running(self) -> Iterator[Server]:
        self.start()
        try:
            yield self
        finally:
            self.stop()

    # --- asking ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def asker(self) -> Iterator[Asker]:
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
            connection.settimeout(60)
            yield Asker(connection)

    def create(self, topic: str, partitions: int = 1, **configs: str) -> None:
        """A topic, every partition of which has a leader that knows it."""
        wanted = CreatableTopic(
            name=topic, num_partitions=partitions, replication_factor=1, assignments=[],
            configs=[CreatableTopicConfig(name=n.replace("_", "."), value=v) for n, v in configs.items()],
        )  # fmt: skip
        with self.asker() as asker:
            answer = asker.ask(CreateTopicsRequest(topics=[wanted]), 7)
        codes = [one.error_code for one in answer.topics]
        if codes != [0]:
            raise RuntimeError(f"{self.name} did not create {topic}: {codes}")
        self.until_led(topic, partitions)

    def delete(self, topic: str) -> None:
        with self.asker() as asker:
            asker.ask(
                DeleteTopicsRequest(
                    topics=[DeleteTopicState(name=topic, topic_id=ZERO_UUID)], timeout_ms=30000
                ),
                6,
            )

    # --- measuring ------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def memory_mb(self, figure: str = "VmRSS") -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{figure}:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"no {figure} of process {self.pid}")

    def cpu(self) -> Cpu:
        return Cpu.of(self.pid)


def all_answer(answer: Any) -> bool:
    return all(one.error_code == 0 for topic in answer.topics for one in topic.partitions)


class Asker:
    """One connection, one question at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.framing = ClientFraming("bench")

    def ask(self, request: Any, version: int) -> Any:
        _, parts = self.framing.encode_request(request, version)
        self.connection.sendall(b"".join(parts))
        while True:
            count = self.connection.recv_into(self.framing.buffer())
            if count == 0:
                raise ConnectionError("the server closed the connection")
            for response in self.framing.received(count):
                return response.decode()


class Cpu:
    """CPU time of a process so far: exact for living threads, in ticks for all that ever lived."""

    def __init__(self, threads: dict[str, int], ticks: int) -> None:
        self.threads = threads
        self.ticks = ticks

    @classmethod
    def of(cls, pid: int) -> Cpu:
        threads = {}
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError, IndexError):
                threads[task.name] = int((task / "schedstat").read_text().split()[0])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return cls(threads, int(fields[11]) + int(fields[12]))

    def since(self, earlier: Cpu) -> float:
        """Seconds. A thread that ended in between is in the ticks only, so then the larger figure counts."""
        living = sum(self.threads.values()) - sum(
            spent for task, spent in earlier.threads.items() if task in self.threads
        )
        ticks = (self.ticks - earlier.ticks) / os.sysconf("SC_CLK_TCK")
        ended = any(task not in self.threads for task in earlier.threads)
        return max(living / 1e9, ticks) if ended else living / 1e9


class Kafka(Server):
    """Apache Kafka, as its distribution starts it."""

    name = f"Apache Kafka {peer.VERSION}"

    def java(self, flags: tuple[str, ...], main_class: str, *arguments: str) -> list[str]:
        logging = self.directory / "log4j2.properties"
        logging.write_text(LOGGING)
        where = ["-cp", f"{peer.jars()}/*", f"-Dlog4j2.configurationFile={logging}"]
        return ["java", *flags, *where, main_class, *arguments]

    def format(self) -> None:
        subprocess.run(
            self.java(
                ("-Xmx256m",), "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID,
                "-c", str(self.properties), "--standalone",
            ),
            check=True, capture_output=True,
        )  # fmt: skip

    def command(self) -> list[str]:
        return self.java(SHIPPED_FLAGS, "kafka.Kafka", str(self.properties))


class Quire(Server):
    """Quire, by its own command."""

    name = "Quire"

    def format(self) -> None:
        subprocess.run(
            [
                sys.executable, "-m", "quire", "format", "--cluster-id", CLUSTER_ID,
                "--config", str(self.properties), "--standalone",
            ],
            check=True, capture_output=True,
        )  # fmt: skip

    def command(self) -> list[str]:
        return [sys.executable, "-m", "quire", "server", "--config", str(self.properties)]


def why_no_kafka() -> str | None:
    """Why Apache Kafka cannot take part; None when it can."""
    if shutil.which("java") is None:
        return "java is not installed"
    try:
        peer.jars()
    except peer.PeerUnavailable as reason:
        return str(reason)
    return None
