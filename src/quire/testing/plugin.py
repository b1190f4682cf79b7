"""The pytest plugin: installed with Quire, it is just there.

    def test_orders(quire_cluster, quire_topic):
        producer = AnyKafkaClient(bootstrap_servers=quire_cluster.bootstrap)

    quire_cluster    one cluster for the whole session; for each worker of pytest-xdist its own
    quire_topic      the name of a new topic, deleted after the test
    quire_settings   Apache Kafka's settings of the cluster: a conftest.py may give its own

Invariants
  I1  Nothing is imported or started before a test asks for a fixture.
Not here   the cluster (cluster).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from quire.testing.cluster import Cluster

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def quire_settings() -> dict[str, str]:
    """Settings of the session's cluster, by Apache Kafka's names; give your own in a conftest.py."""
    return {}


@pytest.fixture(scope="session")
def quire_cluster(quire_settings: dict[str, str]) -> Iterator[Cluster]:
    """A running cluster, shared by the session's tests (`quire.testing.Cluster`)."""
    from quire.testing.cluster import Cluster  # noqa: PLC0415 -- I1

    with Cluster(quire_settings) as cluster:
        yield cluster


@pytest.fixture
def quire_topic(quire_cluster: Cluster) -> Iterator[str]:
    """The name of a topic of this test's own, with one partition."""
    name = quire_cluster.create_topic(f"test-{next(_NUMBERS)}")
    yield name
    if quire_cluster.is_running and name in quire_cluster.topics():
        quire_cluster.delete_topic(name)
