"""testing.cluster: there in a fraction of a second, several at once, gone without a trace."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire.testing
from quire.clients.cluster import Cluster as Asked
from quire.clients.errors import AnswerError, UnreachableError
from quire.config.values import ConfigError
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.runtime.network import RealNetwork
from quire.testing.cluster import Cluster, NotRunningError

START_SECONDS = 5


def open_files() -> set[str]:
    places = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return {os.readlink(place) for place in places if os.path.exists(place)}


def answers(cluster_port: int) -> bool:
    async def ask() -> bool:
        try:
            async with Asked(RealNetwork(), [Address("127.0.0.1", cluster_port)]):
                return True
        except UnreachableError:
            return False

    return asyncio.run(ask())


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No thread, no open file, no directory stays behind."""
    threads, files = threading.active_count(), open_files()
    yield
    gc.collect()
    assert threading.active_count() == threads
    assert not [one for one in open_files() - files if "quire-" in one or "socket" in one]


@pytest.mark.usefixtures("nothing_left")
def test_a_cluster_lasts_as_long_as_its_with() -> None:
    began = time.monotonic()
    with quire.testing.Cluster() as cluster:
        assert time.monotonic() - began < START_SECONDS
        directory, port = cluster.directory, cluster.port
        assert cluster.bootstrap == f"127.0.0.1:{port}"
        assert len(cluster.cluster_id) == 22
        assert cluster.create_topic("orders", partitions=3) == "orders"
        assert cluster.create_topic("stock", configs={"cleanup.policy": "compact"}) == "stock"
        assert cluster.topics() == ["orders", "stock"]
        cluster.delete_topic("stock")
        assert cluster.topics() == ["orders"]
        assert os.path.isdir(directory)
        assert answers(port)
    assert not os.path.exists(directory)
    assert not answers(port)
    with pytest.raises(NotRunningError):
        _ = cluster.bootstrap
    cluster.stop()


@pytest.mark.usefixtures("nothing_left")
def test_several_at_once_know_nothing_of_each_other() -> None:
    clusters = [Cluster() for _ in range(4)]
    try:
        for cluster in clusters:
            cluster.start()
        assert len({cluster.port for cluster in clusters}) == 4
        assert len({cluster.cluster_id for cluster in clusters}) == 4
        clusters[0].create_topic("mine")
        assert [cluster.topics() for cluster in clusters] == [["mine"], [], [], []]
    finally:
        for cluster in clusters:
            cluster.stop()


@pytest.mark.usefixtures("nothing_left")
def test_a_killed_cluster_comes_back_where_it_was_with_its_topics() -> None:
    with Cluster() as cluster:
        cluster.create_topic("orders")
        port = cluster.port
        cluster.kill()
        assert not cluster.is_running
        assert not answers(port)
        cluster.start()
        assert cluster.port == port
        assert cluster.topics() == ["orders"]


@pytest.mark.usefixtures("nothing_left")
def test_a_directory_of_ones_own_keeps_its_data(tmp_path: Path) -> None:
    with Cluster(directory=str(tmp_path)) as cluster:
        cluster.create_topic("orders")
        first = cluster.cluster_id
    with Cluster(directory=str(tmp_path)) as cluster:
        assert cluster.topics() == ["orders"]
        assert cluster.cluster_id == first


@pytest.mark.usefixtures("nothing_left")
def test_what_cannot_start_says_why_and_leaves_nothing() -> None:
    cluster = Cluster({"num.partitions": "none"})
    with pytest.raises(ConfigError, match=r"num\.partitions"):
        cluster.start()
    with pytest.raises(NotRunningError):
        _ = cluster.directory


def test_an_error_of_the_cluster_is_the_callers() -> None:
    with Cluster({"num.partitions": "2"}) as cluster:
        cluster.create_topic("orders", partitions=-1)
        with pytest.raises(AnswerError) as raised:
            cluster.create_topic("orders")
        assert raised.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
        with pytest.raises(AnswerError, match="INVALID_CONFIG"):
            cluster.create_topic("other", configs={"cleanup.policy": "burn"})


def test_a_program_that_forgets_to_stop_one_ends_and_leaves_no_files(tmp_path: Path) -> None:
    program = "import quire.testing as t; c = t.Cluster(); c.start(); print(c.directory)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"TMPDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
