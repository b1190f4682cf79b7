"""tools.local: directories and processes; a node that really runs is in test_up."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.runtime.processes import Process, this_process
from quire.tools.local import LocalCluster, LocalError, each, make_or_find


def made(directory: Path, **settings: str) -> LocalCluster:
    texts = {name.replace("_", "."): value for name, value in settings.items()}
    return make_or_find(str(directory), host="127.0.0.1", port=None, settings=texts)


def test_a_new_cluster_is_formatted_and_an_old_one_goes_on_where_it_was(tmp_path: Path) -> None:
    first = made(tmp_path / "c", num_partitions="3")
    (node,) = first.nodes
    assert Path(node.directory, "data", "meta.properties").exists()
    assert node.settings()["num.partitions"] == "3"
    assert node.settings()["listeners"].startswith(f"PLAINTEXT://{node.bootstrap},CONTROLLER://")
    again = made(tmp_path / "c", message_max_bytes="5000")
    assert again == first == LocalCluster.find(str(tmp_path / "c"))
    assert node.settings()["num.partitions"] == "3"
    assert node.settings()["message.max.bytes"] == "5000"


def test_a_port_can_be_changed_later(tmp_path: Path) -> None:
    (before,) = made(tmp_path / "c").nodes
    cluster = make_or_find(str(tmp_path / "c"), host="127.0.0.1", port=before.port + 1, settings={})
    (node,) = cluster.nodes
    assert node.port == before.port + 1
    assert LocalCluster.find(str(tmp_path / "c")).nodes == (node,)
    assert f":{node.port}," in node.settings()["listeners"]


def test_a_node_is_stopped_running_or_died(tmp_path: Path) -> None:
    cluster = made(tmp_path / "c")
    (node,) = cluster.nodes
    assert (node.state, node.stop()) == ("stopped", False)
    node.remember(this_process())
    assert node.state == "running"
    assert [one["pid"] for one in each(cluster)] == [this_process().pid]
    with pytest.raises(LocalError, match="runs already"):
        node.start()
    with pytest.raises(LocalError, match="is up already"):
        made(tmp_path / "c")
    node.remember(Process(this_process().pid, "long ago"))
    assert node.state == "died", "another process has that number now"
    assert [one["pid"] for one in each(cluster)] == [None]
    with pytest.raises(LocalError, match="does not run"):
        node.kill()
    node.forget()
    assert node.state == "stopped"


def test_the_only_node_needs_no_number(tmp_path: Path) -> None:
    cluster = made(tmp_path / "c")
    assert cluster.node(None) == cluster.node(1) == cluster.nodes[0]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=f"{tmp_path} has no cluster"):
        LocalCluster.find(str(tmp_path))
    with pytest.raises(LocalError, match="no node 7"):
        made(tmp_path / "c").node(7)
