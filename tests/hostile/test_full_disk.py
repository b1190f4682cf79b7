"""A real node whose disk is full: writes are refused, reads go on, and with room everything goes on.

The disk is a small memory file system that is mounted in a namespace of the node's own; no rights are needed for it,
where the system lets anybody have one.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.differential.conversation import Conversation
from tests.hostile.asking import batch, end_offset, fetch, make_topic, produce
from tests.interop.quire_node import QuireNode

from quire.errors import ErrorCode

pytestmark = pytest.mark.slow
OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
DISK_BYTES = 48 << 20
FILLER_BYTES = 16 << 20
VALUE = bytes(500_000)
PATIENCE_SECONDS = 30


def mounted(path: Path) -> str:
    return f"mount -t tmpfs -o size={DISK_BYTES} none {shlex.quote(str(path))}"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[QuireNode]:
    node = QuireNode(tmp_path)
    node.data.mkdir()
    tried = shutil.which("unshare") is not None and subprocess.run(
        [*OWN_MOUNTS, mounted(node.data)], capture_output=True, check=False
    )
    if not tried or tried.returncode:
        pytest.skip("NOT CHECKED on a full disk: the system gives nobody a namespace")
    formatting = node.command("format", "--cluster-id", "Vy4f3xGkQ8CmJwAOnQXcYg", "--config",
                              str(node.properties), "--standalone")  # fmt: skip
    serving = node.command("server", "--config", str(node.properties))
    script = (
        f"{mounted(node.data)} && {shlex.join(formatting)} &&"
        f" head -c {FILLER_BYTES} /dev/zero > {shlex.quote(str(node.data / 'filler'))} &&"
        f" exec {shlex.join(serving)}"
    )
    with node.running([*OWN_MOUNTS, script]):
        yield node


def test_a_full_disk_refuses_writes_serves_reads_and_recovers(node: QuireNode) -> None:
    with Conversation(node.port) as talk:
        talk.settle()
        make_topic(talk)
        written = 0
        while (code := produce(talk, batch(VALUE)).error_code) == ErrorCode.NONE:
            written += 1
            assert written * len(VALUE) < DISK_BYTES
        assert code == ErrorCode.KAFKA_STORAGE_ERROR
        assert written > 10
        for _ in range(3):
            assert produce(talk, batch(VALUE)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert end_offset(talk) == written
        last = fetch(talk, written - 1)
        assert (last.error_code, last.high_watermark) == (ErrorCode.NONE, written)
        assert len(last.records) == len(batch(VALUE))
        assert node.server is not None
        Path(f"/proc/{node.server.pid}/root{node.data}/filler").unlink()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (answer := produce(talk, batch(VALUE))).error_code != ErrorCode.NONE:
            assert time.monotonic() < deadline
        assert answer.base_offset == written
        assert fetch(talk, written).high_watermark == written + 1
