"""The load client: compiled once from load.c, run against one server, its figures read beside the server's own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from load.servers import Server

SOURCE = Path(__file__).parent / "load.c"


@dataclass(frozen=True, slots=True)
class Shape:
    """How the load comes: `rate` is requests a second over all connections, 0 is as fast as answers come."""

    connections: int = 1
    depth: int = 1
    rate: float = 0
    cycle: bool = False

    def __str__(self) -> str:
        if self.rate:
            return f"{self.connections} connections, {self.rate:.0f}/s"
        if self.depth > 1:
            return f"{self.connections} connections x {self.depth} under way"
        return f"{self.connections} connection{'s' * (self.connections > 1)}, one at a time"


@dataclass(frozen=True, slots=True)
class Figures:
    """One round."""

    requests: int
    seconds: float
    payload: int
    """Bytes of batches that were accepted or received."""
    server_cpu: float
    client_cpu: float
    p50_us: float
    p99_us: float
    p999_us: float
    waits: int = 0
    """How often a producer was told to wait for the end of its last transaction."""

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds

    @property
    def mb_per_second(self) -> float:
        return self.payload / self.seconds / 1e6

    @property
    def cpu_us(self) -> float:
        """Of the server, per request."""
        return self.server_cpu / self.requests * 1e6

    @property
    def cpu_per_gb(self) -> float:
        return self.server_cpu / self.payload * 1e9 if self.payload else 0.0


def program() -> Path:
    """The compiled client; compiled anew when its source has changed."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quire" / "bench"
    made = cache / f"load-{digest}"
    if not made.exists():
        compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = made.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-O2", "-o", str(unfinished), str(SOURCE)], check=True)
        unfinished.rename(made)
    return made


def run(
    server: Server,
    frames: Sequence[bytes],
    check: str,
    shape: Shape,
    *,
    seconds: float,
    warmup: float = 0.3,
    payload_bytes: int = 0,
    expect: int = 0,
    places: Mapping[str, int] | None = None,
) -> Figures:
    """One round. `payload_bytes` is what an accepted request carries, `expect` the least that a fetch must bring.

    `places` are options of the client that say where in the frames something stands.
    """
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(frames))
        file.flush()
        command = [
            str(program()), "--port", str(server.port), "--frames", file.name, "--check", check,
            "--connections", str(shape.connections), "--depth", str(shape.depth),
            "--rate", str(shape.rate), "--seconds", str(seconds), "--warmup", str(warmup),
            "--expect", str(expect),
        ]  # fmt: skip
        for name, place in (places or {}).items():
            command += [f"--{name}", str(place)]
        command += ["--cycle"] * shape.cycle
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            began = client.stdout.readline().strip()
            before = server.cpu()
            told = client.stdout.readline()
            spent = server.cpu().since(before)
    if began != "begin" or client.returncode:
        raise RuntimeError(f"the load client failed against {server.name}")
    seen = json.loads(told)
    if seen["errors"] or seen["short_answers"] or not seen["requests"]:
        raise RuntimeError(f"{server.name} did not do what was asked: {seen}")
    return Figures(
        requests=seen["requests"],
        seconds=seen["seconds"],
        payload=seen["payload"] or payload_bytes * seen["requests"],
        server_cpu=spent,
        client_cpu=seen["client_cpu"],
        p50_us=seen["p50_us"],
        p99_us=seen["p99_us"],
        p999_us=seen["p999_us"],
        waits=seen["waits"],
    )
