"""Clusters on this machine that `quire up` made: where they are, what runs of them, how they are started and stopped.

    DIR/cluster.json              the cluster's id, and of each node its ports and directory
    DIR/node-1/server.properties  its settings, Apache Kafka's names
    DIR/node-1/data               its logs
    DIR/node-1/server.log         what it said
    DIR/node-1/process.json       the process that runs it; gone after a clean stop

Invariants
  I1  A node whose process.json names a process that does not run any more has died; without the file it was stopped.
  I2  Ports stay: a node that is started again is found where it was.
Not here   the node (node, runtime.server), commands (up, down, status, node/).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from quire.clients.cluster import Cluster
from quire.clients.errors import ClientError
from quire.config.java_properties import format_properties, parse_properties
from quire.errors import QuireError
from quire.node.format import Formatting, format_directories
from quire.ports.network import Address
from quire.runtime.clock import RealClock
from quire.runtime.disk import RealDisk
from quire.runtime.entropy import RealEntropy
from quire.runtime.network import RealNetwork
from quire.runtime.processes import Process, free_port, start_detached
from quire.storage.meta_properties import new_uuid
from quire.types import uuid_to_text

USUAL_PORT = 9092
START_SECONDS = 30.0
STOP_SECONDS = 60.0
SHOWN_LINES = 15

ALONE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""What one node alone needs: nobody else can hold a replica."""


class LocalError(QuireError):
    """What was asked of a local cluster cannot be."""


@dataclass(frozen=True, slots=True)
class LocalNode:
    """One node of a local cluster."""

    directory: str
    node: int
    host: str
    port: int
    controller_port: int
    http_port: int

    @property
    def pages(self) -> str:
        """Where its /metrics and /health are."""
        return f"http://{Address(self.host, self.http_port)}"

    @property
    def bootstrap(self) -> str:
        return str(self.address)

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)

    @property
    def properties(self) -> str:
        return f"{self.directory}/server.properties"

    @property
    def output(self) -> str:
        return f"{self.directory}/server.log"

    @property
    def process(self) -> Process | None:
        """The process that runs it, or ran it until it died; None when it was stopped (I1)."""
        try:
            with open(self._process_file, encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            return None
        return Process(int(found["pid"]), str(found["started"]))

    @property
    def state(self) -> str:
        process = self.process
        if process is None:
            return "stopped"
        return "running" if process.is_running else "died"

    def settings(self) -> dict[str, str]:
        with open(self.properties, "rb") as file:
            return parse_properties(file.read())

    def remember(self, process: Process) -> None:
        """This process runs the node from now on."""
        _write_json(self._process_file, process._asdict())

    def forget(self) -> None:
        """It was stopped."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._process_file)

    def start(self) -> None:
        """Start it in a process of its own, and return when it answers."""
        if self.state == "running":
            raise LocalError(f"node {self.node} runs already, as process {_pid(self)}")
        command = [sys.executable, "-P", "-m", "quire", "server", "--config", self.properties]
        process = start_detached(command, self.output)
        self.remember(process)
        self.wait_until_it_answers(process)

    def wait_until_it_answers(self, process: Process) -> None:
        """Return once it answers Metadata; LocalError with its last words, or with who is there instead."""
        ours = LocalCluster.find(os.path.dirname(self.directory)).cluster_id
        deadline = time.monotonic() + START_SECONDS
        while (there := cluster_at(self.address)) != ours:
            if there is not None:
                self.stop()
                raise LocalError(f"port {self.port} is another's: cluster {there} answers there")
            if not process.is_running:
                self.forget()
                raise LocalError(f"node {self.node} did not start:\n{self.last_words()}")
            if time.monotonic() > deadline:
                raise LocalError(f"node {self.node} does not answer:\n{self.last_words()}")
            time.sleep(POLL_SECONDS)

    def stop(self) -> bool:
        """Stop it cleanly; whether there was anything to stop."""
        process = self.process
        if process is None:
            return False
        process.ask_to_stop()
        if not process.wait(STOP_SECONDS):
            raise LocalError(f"node {self.node} (process {process.pid}) has not stopped yet")
        self.forget()
        return True

    def kill(self) -> None:
        """End it at once, as a crash would."""
        process = self.process
        if process is None or not process.is_running:
            raise LocalError(f"node {self.node} does not run")
        process.end_now()
        process.wait(STOP_SECONDS)

    def last_words(self) -> str:
        try:
            with open(self.output, encoding="utf-8", errors="replace") as file:
                return "".join(file.readlines()[-SHOWN_LINES:]).rstrip()
        except FileNotFoundError:
            return "(it said nothing)"

    @property
    def _process_file(self) -> str:
        return f"{self.directory}/process.json"


POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class LocalCluster:
    """A directory that `quire up` made."""

    directory: str
    cluster_id: str
    nodes: tuple[LocalNode, ...]

    @classmethod
    def find(cls, directory: str) -> LocalCluster:
        """The cluster in a directory; LocalError where there is none."""
        path = os.path.abspath(directory)
        try:
            with open(f"{path}/cluster.json", encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            raise LocalError(f"{path} has no cluster; `quire up --dir {path}` makes one") from None
        nodes = tuple(LocalNode(**one) for one in found["nodes"])
        return cls(path, found["cluster_id"], nodes)

    def node(self, number: int | None) -> LocalNode:
        """The node of this number, or the only one."""
        if number is None:
            if len(self.nodes) > 1:
                raise LocalError(f"{self.directory} has several nodes; --node says which is meant")
            return self.nodes[0]
        for one in self.nodes:
            if one.node == number:
                return one
        raise LocalError(f"{self.directory} has no node {number}")


def make_or_find(
    directory: str, *, host: str, port: int | None, settings: Mapping[str, str]
) -> LocalCluster:
    """The cluster in a directory; a new one is formatted. `settings` are added to those of before."""
    path = os.path.abspath(directory)
    if os.path.exists(f"{path}/cluster.json"):
        cluster = LocalCluster.find(path)
        (node,) = cluster.nodes
        _check_idle(node)
        if port is not None and port != node.port:
            node = replace(node, host=host, port=port)
            cluster = LocalCluster(path, cluster.cluster_id, (node,))
            _write_cluster(cluster)
        _write_properties(node, {**node.settings(), **_listeners(node), **settings})
        return cluster
    node = _new_node(path, host, port)
    cluster = LocalCluster(path, uuid_to_text(new_uuid(RealEntropy())), (node,))
    os.makedirs(node.directory, exist_ok=True)
    static = {**_settings_of(node), **settings}
    _write_properties(node, static)
    format_directories(
        RealDisk(),
        static,
        Formatting(cluster_id=cluster.cluster_id, standalone=True, ignore_formatted=True),
        entropy=RealEntropy(),
        now_ms=RealClock().wall_ms(),
    )
    _write_cluster(cluster)
    return cluster


def cluster_at(address: Address) -> str | None:
    """The id of the cluster whose broker there answers Metadata and counts itself in; None when nobody does."""

    async def ask() -> str | None:
        try:
            async with Cluster(RealNetwork(), [address], client_id="quire-cli") as cluster:
                return cluster.cluster_id if cluster.brokers else None
        except (OSError, TimeoutError, ClientError):
            return None

    return asyncio.run(ask())


def _check_idle(node: LocalNode) -> None:
    if node.state == "running":
        raise LocalError(
            f"{os.path.dirname(node.directory)} is up already, at {node.bootstrap}"
            f" (process {_pid(node)})"
        )


def _pid(node: LocalNode) -> int:
    process = node.process
    return process.pid if process is not None else -1


def _new_node(path: str, host: str, port: int | None) -> LocalNode:
    chosen = port or free_port(host, wanted=USUAL_PORT) or free_port(host)
    controller_port, http_port = free_port(host), free_port(host)
    if chosen is None or controller_port is None or http_port is None:
        raise LocalError(f"there is no free port on {host}")
    return LocalNode(f"{path}/node-1", 1, host, chosen, controller_port, http_port)


def _settings_of(node: LocalNode) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.node),
        "controller.listener.names": "CONTROLLER",
        **_listeners(node),
        "log.dirs": f"{node.directory}/data",
        **ALONE,
    }


def _listeners(node: LocalNode) -> dict[str, str]:
    controller = Address(node.host, node.controller_port)
    return {
        "listeners": f"PLAINTEXT://{node.address},CONTROLLER://{controller}",
        "controller.quorum.bootstrap.servers": str(controller),
        "quire.http.listener": str(Address(node.host, node.http_port)),
    }


def _write_properties(node: LocalNode, settings: Mapping[str, str]) -> None:
    with open(node.properties, "wb") as file:
        file.write(format_properties(settings, "made by quire up"))


def _write_cluster(cluster: LocalCluster) -> None:
    content = {"cluster_id": cluster.cluster_id, "nodes": [asdict(one) for one in cluster.nodes]}
    _write_json(f"{cluster.directory}/cluster.json", content)


def _write_json(path: str, content: Any) -> None:
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
    os.replace(f"{path}.tmp", path)


def each(cluster: LocalCluster) -> Iterator[dict[str, Any]]:
    """What there is to say of each node."""
    for node in cluster.nodes:
        process = node.process
        yield {
            "node": node.node,
            "state": node.state,
            "pid": process.pid if process is not None and node.state == "running" else None,
            "bootstrap": node.bootstrap,
            "port": node.port,
            "controller_port": node.controller_port,
            "http": node.pages,
            "directory": node.directory,
        }
