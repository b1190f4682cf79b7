"""The cluster under test: a Quire node by default.

  QUIRE_COMPAT=kafka        Apache Kafka instead, which says whether the tests themselves are right
  QUIRE_COMPAT=host:port    a cluster that runs already

These tests take long and fetch much: they run only where `-m` names their marker (`make compat`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.compat import wire
from tests.compat.client import eventually, new_name
from tests.interop.kafka import Kafka, require_java
from tests.interop.quire_node import QuireNode

from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

pytest.register_assert_rewrite("tests.compat.scenarios")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "compat" in (config.getoption("-m") or ""):
        return
    unwanted = [item for item in items if item.get_closest_marker("compat")]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if not item.get_closest_marker("compat")]


class Place(NamedTuple):
    """A cluster of one node."""

    bootstrap: str
    data: Path | None
    """Its log directory, when it is ours."""


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where the cluster is."""
    against = os.environ.get("QUIRE_COMPAT", "quire")
    if ":" in against:
        yield Place(against, None)
        return
    directory = tmp_path_factory.mktemp(against)
    if against == "kafka":
        require_java()
    server = Kafka(directory) if against == "kafka" else QuireNode(directory)
    server.format()
    with server.running():
        assert eventually(lambda: answers(server.bootstrap))
        yield Place(server.bootstrap, server.data)


@pytest.fixture(scope="session")
def bootstrap(place: Place) -> str:
    """Where the cluster answers."""
    return place.bootstrap


@pytest.fixture
def data(place: Place) -> Path:
    """The node's log directory."""
    if place.data is None:
        pytest.skip("NOT CHECKED: the cluster's files are elsewhere")
    return place.data


def answers(address: str) -> bool:
    try:
        return _create(address, new_name("first"), 1, {}) == 0
    except OSError:
        return False


def _create(address: str, name: str, partitions: int, configs: dict[str, str]) -> int:
    wanted = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )  # fmt: skip
    code: int = wire.ask(address, CreateTopicsRequest(topics=[wanted]), 7).topics[0].error_code
    return code


def _led(address: str, name: str, partitions: int) -> bool:
    wanted = [ListOffsetsPartition(partition_index=n, timestamp=-1) for n in range(partitions)]
    topic = ListOffsetsTopic(name=name, partitions=wanted)
    answer: Any = wire.ask(address, ListOffsetsRequest(replica_id=-1, topics=[topic]), 7)
    return all(one.error_code == 0 for one in answer.topics[0].partitions)


@pytest.fixture
def topic(bootstrap: str) -> Callable[..., str]:
    """Make a topic of the test's own: `topic(partitions=3, **{"retention.ms": "1"})`; it has leaders."""

    def make(partitions: int = 1, **configs: str) -> str:
        name = new_name("topic")
        assert _create(bootstrap, name, partitions, configs) == 0
        assert eventually(lambda: _led(bootstrap, name, partitions))
        return name

    return make
