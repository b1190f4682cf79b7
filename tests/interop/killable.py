"""A node of a test's own that is killed (SIGKILL) and started again on what it left."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

from tests.interop.kafka import Kafka, wait_for_port
from tests.interop.quire_node import QuireNode

STOP_SECONDS = 60


class Killable:
    """A node, of either system, whose process may end at any moment."""

    def __init__(self, node: Kafka | QuireNode) -> None:
        self.node = node
        self.bootstrap = node.bootstrap
        self.kills = 0
        self._process: subprocess.Popen[bytes] | None = None
        node.format()

    def start(self) -> None:
        output = self.node.directory / "killed.log"
        with output.open("ab") as log:
            process = self._process = subprocess.Popen(
                self.node.serving(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        wait_for_port(process, self.node.port, output)

    def kill(self) -> None:
        """Strike it, and start it again."""
        self.strike()
        self.start()

    def strike(self) -> None:
        """End it without a word to anybody."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self.kills += 1

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        try:
            self.start()
            yield
        finally:
            if self._process is not None and self._process.returncode is None:
                self._process.terminate()
                try:
                    self._process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
