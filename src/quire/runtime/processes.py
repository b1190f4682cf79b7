"""Other processes of this machine: started to outlive us, told to stop, and told apart from who has their number now.

Invariants
  I1  A process is known by its number and the moment of its start: numbers are given again.
  I2  One that has ended and was not collected yet (a zombie) is not running.
Not here   what the processes are (tools.local).
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from secrets import choice
from typing import NamedTuple

POLL_SECONDS = 0.02
PORTS = range(10_000, 32_768)
ATTEMPTS = 100


class Process(NamedTuple):
    """A process, so that it can be recognised later (I1)."""

    pid: int
    started: str

    @property
    def is_running(self) -> bool:
        return _started(self.pid) == self.started

    def ask_to_stop(self) -> None:
        """SIGTERM."""
        self._send(signal.SIGTERM)

    def end_now(self) -> None:
        """SIGKILL."""
        self._send(signal.SIGKILL)

    def wait(self, timeout_seconds: float) -> bool:
        """Whether it has ended within this time."""
        deadline = time.monotonic() + timeout_seconds
        while self.is_running:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _send(self, number: signal.Signals) -> None:
        if self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def this_process() -> Process:
    """Ourselves."""
    pid = os.getpid()
    return Process(pid, _started(pid) or "")


def start_detached(command: Sequence[str], output: str) -> Process:
    """Start a process that outlives this one and its terminal; what it says is added to the file `output`."""
    with open(output, "ab") as file:
        started = subprocess.Popen(  # noqa: S603 -- our own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    started.returncode = 0  # it is nobody's child from here on: no warning that we do not wait
    return Process(started.pid, _started(started.pid) or "")


def free_port(host: str, *, wanted: int = 0) -> int | None:
    """`wanted` if nobody listens there, else None; any free port for 0.

    Any is one below those that the system gives to connections: a node that is down for a moment must find its port
    again.
    """
    candidates = (wanted,) if wanted else (choice(PORTS) for _ in range(ATTEMPTS))
    return next((port for port in candidates if _is_free(host, port)), None)


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def _started(pid: int) -> str | None:
    """When a process started, as text; None when there is none, or only what is left of one (I2)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except FileNotFoundError:
        return None if os.path.exists("/proc/self/stat") else _started_by_ps(pid)
    except ProcessLookupError:
        return None
    state, ticks = fields[0], fields[19]
    return None if state in (b"Z", b"X") else ticks.decode()


def _started_by_ps(pid: int) -> str | None:
    done = subprocess.run(  # noqa: S603
        ["ps", "-o", "state=,lstart=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, started = done.stdout.strip().partition(" ")
    return started.strip() or None if state and not state.startswith("Z") else None
