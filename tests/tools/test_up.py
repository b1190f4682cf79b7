"""`quire up`, and what ends it: real processes on real ports."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quire.runtime.processes import free_port
from quire.tools.local import LocalCluster

WAIT_SECONDS = 30


def quire(*arguments: str, fails: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "quire", *arguments],
        capture_output=True, text=True, timeout=WAIT_SECONDS, check=False,
    )  # fmt: skip
    assert bool(done.returncode) is fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def test_a_detached_node_answers_dies_comes_back_and_stops(tmp_path: Path) -> None:
    place = str(tmp_path / "c")
    port = free_port("127.0.0.1")
    told = json.loads(
        quire("up", "--dir", place, "--port", str(port), "--set", "num.partitions=3", "--detach",
              "--format", "json")
    )  # fmt: skip
    try:
        assert told["bootstrap"] == f"127.0.0.1:{port}"
        quire("topic", "create", "hello", "-b", told["bootstrap"])
        assert "is up already" in quire("up", "--dir", place, "--detach", fails=True)
        assert "killed" in quire("node", "kill", "--dir", place, "--node", "1")
        (node,) = json.loads(quire("status", "--dir", place, "--format", "json"))["nodes"]
        assert (node["state"], node["pid"]) == ("died", None)
        assert "up at" in quire("node", "start", "--dir", place, "--node", "1")
        (node,) = json.loads(quire("status", "--dir", place, "--format", "json"))["nodes"]
        assert (node["state"], node["port"]) == ("running", port)
        (topic,) = json.loads(quire("topic", "list", "-b", told["bootstrap"], "--format", "json"))
        assert (topic["topic"], topic["partitions"]) == ("hello", 3)
        assert "stopped" in quire("node", "stop", "--dir", place, "--node", "1")
        assert "was not running" in quire("down", "--dir", place)
        assert Path(place, "node-1", "data", ".kafka_cleanshutdown").exists()
    finally:
        LocalCluster.find(place).node(1).stop()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGHUP])
def test_in_the_foreground_it_says_where_it_is_and_leaves_nothing_after_ctrl_c(
    tmp_path: Path, end: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "quire", "up", "--port", str(free_port("127.0.0.1"))],
        stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    ) as up:  # fmt: skip
        assert up.stdout is not None
        line = up.stdout.readline()
        assert line.startswith("up at 127.0.0.1:"), line
        assert "thrown away" in line
        assert len(list(tmp_path.iterdir())) == 1
        up.send_signal(end)
        assert "Ctrl+C stops it" in up.stdout.read()
        assert up.wait(WAIT_SECONDS) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_is_not_known_is_told_and_a_wrong_one_ends_it(tmp_path: Path) -> None:
    place, wrong = str(tmp_path / "c"), str(tmp_path / "d")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "quire", "up", "--dir", place, "--detach",
             "--set", "num.partitionz=3"],
            capture_output=True, text=True, timeout=WAIT_SECONDS, check=True,
        )  # fmt: skip
        assert done.stderr == "num.partitionz is no setting that is known; it does nothing\n"
    finally:
        LocalCluster.find(place).node(1).stop()
    refusal = quire("up", "--dir", wrong, "--detach", "--set", "num.partitions=many", fails=True)
    assert "num.partitions" in refusal
    assert "Traceback" not in refusal


def test_down_stops_one_in_the_foreground_too(tmp_path: Path) -> None:
    place = str(tmp_path / "c")
    with subprocess.Popen(
        [sys.executable, "-m", "quire", "up", "--dir", place], stdout=subprocess.PIPE, text=True
    ) as up:
        assert up.stdout is not None
        assert up.stdout.readline().startswith("up at")
        assert "stopped" in quire("down", "--dir", place)
        assert up.wait(WAIT_SECONDS) == 0


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    place = str(tmp_path / "c")
    began = time.monotonic()
    said = quire("up", "--dir", place, "--set", "log.segment.bytes=7", "--detach", fails=True)
    assert "log.segment.bytes" in said
    assert time.monotonic() - began < WAIT_SECONDS
    assert "one node is all" in quire("up", "--nodes", "3", fails=True)
    assert "--detach needs --dir" in quire("up", "--detach", fails=True)


def test_another_cluster_at_the_port_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    port = str(free_port("127.0.0.1"))
    quire("up", "--dir", first, "--port", port, "--detach")
    try:
        told = quire("up", "--dir", second, "--port", port, "--detach", fails=True)
        assert f"port {port} is another's: cluster {LocalCluster.find(first).cluster_id}" in told
        assert LocalCluster.find(second).node(1).state == "stopped"
        assert LocalCluster.find(first).node(1).state == "running"
    finally:
        LocalCluster.find(first).node(1).stop()


@pytest.mark.parametrize("command", [["status"], ["down"], ["node", "stop", "--node", "1"]])
def test_without_a_cluster_the_directory_is_named(tmp_path: Path, command: list[str]) -> None:
    assert f"{tmp_path} has no cluster" in quire(*command, "--dir", str(tmp_path), fails=True)
