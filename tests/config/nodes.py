"""Nodes that start or do not, as Apache Kafka 4.3.0 decides: what differs from the smallest node."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SMALLEST = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}


class Node(NamedTuple):
    """One line of nodes.txt: `+` starts, `-` does not; `name=UNSET` takes a setting away."""

    line: str
    starts: bool
    texts: dict[str, str]


def nodes() -> list[Node]:
    found = []
    for line in (Path(__file__).parent / "nodes.txt").read_text().splitlines():
        texts = dict(SMALLEST)
        for item in line[2:].split(";"):
            name, _, value = item.partition("=")
            texts[name] = value
            if value == "UNSET":
                del texts[name]
        found.append(Node(line, line.startswith("+ "), texts))
    return found
