"""What the tests of a node share: one simulated machine whose time is virtual, and directories to begin with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from quire.broker.call import Client
from quire.node.boot import Node
from quire.node.format import Formatting, format_directories
from quire.node.world import World
from quire.ports.disk import Disk
from quire.ports.network import Address
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from quire.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from quire.protocol.schema import ZERO_UUID
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace

GOLDEN = Path(__file__).parents[1] / "golden"


def on_machine(main: Callable[[Machine], Awaitable[Any]], *, seed: int = 1) -> Any:
    """Run `main` with a machine of its own, to its end."""

    async def begin() -> Any:
        loop = asyncio.get_running_loop()
        entropy = SeededEntropy(seed)
        machine = Machine("b1", loop, SimNetwork(entropy), Trace(loop), entropy)
        return await main(machine)

    return run(begin)


def with_world(main: Callable[[World], Awaitable[Any]], *, seed: int = 1) -> Any:
    """Run `main` with the doors of one process."""
    return on_machine(lambda machine: main(machine.boot()), seed=seed)


def make_directory(disk: Disk, path: str) -> None:
    """A directory that outlives a loss of power."""
    disk.make_directory(path)
    at = path
    while at:
        at = at.rpartition("/")[0]
        disk.flush_directory(at or "/")


def bring(disk: Disk, source: Path, target: str) -> None:
    """Copy a directory of this machine to a simulated disk, durably."""
    make_directory(disk, target)
    for found in sorted(source.iterdir()):
        if found.is_dir():
            bring(disk, found, f"{target}/{found.name}")
            continue
        file = disk.open(f"{target}/{found.name}", create=True)
        file.write(0, [found.read_bytes()])
        file.flush()
        file.close()
    disk.flush_directory(target)


SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "b1:9093",
    "listeners": "PLAINTEXT://b1:9092,CONTROLLER://b1:9093",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/logs/a",
}
CLUSTER_ID = "PzJIwIKORUm3lDcXOerb8A"


def format_machine(machine: Machine, settings: Mapping[str, str] = SETTINGS) -> None:
    """Format the directories of a node on this machine, as standalone."""
    wanted = Formatting(cluster_id=CLUSTER_ID, standalone=True)
    entropy = SeededEntropy(7)
    now_ms = machine.clock.wall_ms()
    format_directories(machine.disk, settings, wanted, entropy=entropy, now_ms=now_ms)


async def make_topic(node: Node, name: str, partitions: int = 1, **configs: str) -> None:
    """Make a topic as a client of the node would, and wait until it is there."""
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=1000, validate_only=False)
    answer = await node.broker.controller.ask(request, version=7, client=CLIENT)
    assert answer.topics[0].error_code == 0, answer


async def delete_topic(node: Node, name: str) -> None:
    """Delete a topic as a client of the node would, and wait until it is gone."""
    state = DeleteTopicState(name=name, topic_id=ZERO_UUID)
    request = DeleteTopicsRequest(topics=[state], timeout_ms=1000)
    answer = await node.broker.controller.ask(request, version=6, client=CLIENT)
    assert answer.responses[0].error_code == 0, answer


CLIENT = Client(Address("test", 1), "PLAINTEXT")
