"""A real Quire node on loopback, by its own commands: one combined node, for tests that hand a directory around."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.interop.kafka import CLUSTER_ID, free_ports, node_settings, wait_for_port

STOP_SECONDS = 30


class QuireNode:
    """One node whose data directory outlives it; the same settings as `Kafka` beside it."""

    def __init__(self, directory: Path, data: Path | None = None) -> None:
        self.directory = directory
        self.data = data or directory / "data"
        self.port, self.controller_port = free_ports(2)
        self.bootstrap = f"127.0.0.1:{self.port}"
        directory.mkdir(parents=True, exist_ok=True)
        self.server: subprocess.Popen[bytes] | None = None
        """The process, while it runs."""
        self.properties = directory / "quire.properties"
        settings = node_settings(self.data, self.port, self.controller_port)
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "quire", *arguments]

    def serving(self) -> list[str]:
        """What starts the node."""
        return self.command("server", "--config", str(self.properties))

    def format(self) -> None:
        done = subprocess.run(
            self.command(
                "format", "--cluster-id", CLUSTER_ID, "--config", str(self.properties),
                "--standalone",
            ),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    @contextlib.contextmanager
    def running(self, command: list[str] | None = None) -> Iterator[None]:
        """Start it (by another command, if need be), wait until it answers, and stop it cleanly."""
        output = self.directory / "quire.log"
        with output.open("ab") as log:
            server = self.server = subprocess.Popen(
                command or self.serving(),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        try:
            wait_for_port(server, self.port, output)
            yield
            began = time.monotonic()
            server.terminate()
            code = server.wait(STOP_SECONDS)
            assert code in (0, 143), f"{code} after {time.monotonic() - began:.1f} s: {self.told()}"
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()

    def told(self) -> str:
        return (self.directory / "quire.log").read_text()[-4000:]
