"""runtime.server: a node as a process, and the signals that end it."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.node.scene import SETTINGS

from quire.runtime.server import raise_file_limit

WAIT_SECONDS = 30


@pytest.fixture
def properties(tmp_path: Path) -> Path:
    """A formatted node on free ports."""
    path = tmp_path / "node.properties"
    settings = {
        **SETTINGS,
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "log.dirs": str(tmp_path / "data"),
    }
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    quire("format", "--config", str(path), "--standalone")
    return path


def quire(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "quire", *arguments],
        capture_output=True, text=True, timeout=WAIT_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


class Server:
    """A server process and what it said."""

    def __init__(self, properties: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "quire", "server", "-c", str(properties), *arguments]
        self.output = properties.parent / "output"
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file)

    def until(self, words: str) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while words not in self.output.read_text():
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(properties: Path, number: signal.Signals) -> None:
    server = Server(properties)
    server.until("serves")
    server.process.send_signal(signal.SIGHUP)
    server.process.send_signal(number)
    assert server.process.wait(WAIT_SECONDS) == 0
    assert "has stopped" in server.output.read_text()
    assert (properties.parent / "data" / ".kafka_cleanshutdown").exists()


def test_a_killed_one_starts_again_and_two_do_not_share_a_directory(properties: Path) -> None:
    server = Server(properties)
    server.until("serves")
    second = Server(properties)
    assert second.process.wait(WAIT_SECONDS) == 1
    assert "in use by another process" in second.output.read_text()
    server.process.kill()
    server.process.wait(WAIT_SECONDS)
    again = Server(properties, "--log-format", "json")
    again.until('"serves"')
    again.process.terminate()
    assert again.process.wait(WAIT_SECONDS) == 0


def test_python_without_assertions_is_refused(properties: Path) -> None:
    command = [sys.executable, "-O", "-m", "quire", "server", "-c", str(properties)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "without it" in done.stderr


def test_a_setting_that_cannot_be_is_one_line_that_names_it(properties: Path) -> None:
    command = [
        sys.executable, "-m", "quire", "server", "-c", str(properties),
        "--set", "num.partitions=many",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("quire: num.partitions is 'many'")
    assert done.stderr.count("\n") == 1


def test_the_file_limit_is_raised_as_far_as_it_goes() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[0], 256), before[1]))
        assert raise_file_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
