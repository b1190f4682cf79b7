"""Records are copied from topic to topic by transactions that carry the group's offsets, while the node is killed.

Every record of the source is once among what is committed in the target, and nothing of what was aborted is.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compat import wire
from tests.compat.client import Client, Sent, new_name
from tests.compat.environments import java_program, python_with
from tests.compat.exactly_once.programs import Program
from tests.compat.scenarios import KEPT
from tests.interop.killable import Killable

from quire.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

pytestmark = [pytest.mark.compat, pytest.mark.slow]

HERE = Path(__file__).parent
PARTITIONS = 4
RECORDS = 4000
KILLS = 4
GIVE_UP_SECONDS = 120


def librdkafka() -> list[str]:
    return [*python_with("confluent-kafka", "confluent-kafka==2.16.1"), str(HERE / "copier.py")]


def java() -> list[str]:
    return java_program("copier", HERE / "Copier.java", main_class="Copier")


def committed(node: Killable, group: str, topic: str) -> list[int]:
    """What the group has committed, once no transaction decides about it; empty while that cannot be told."""
    wanted = OffsetFetchRequestTopics(name=topic, partition_indexes=list(range(PARTITIONS)))
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=[wanted])], require_stable=True
    )
    (found,) = wire.ask(node.bootstrap, request, 9).groups
    if found.error_code or any(one.error_code for one in found.topics[0].partitions):
        return []
    return [one.committed_offset for one in found.topics[0].partitions]


def read(node: Killable, topic: str, isolation: str) -> list[tuple[str, str]]:
    """(key, value) of everything in a topic, by librdkafka."""
    done = subprocess.run(
        [*librdkafka(), "read", node.bootstrap, topic, isolation],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(key, value) for key, value in json.loads(done.stdout)]


def fill(node: Killable, topic: str) -> list[str]:
    values = [f"value-{number}" for number in range(RECORDS)]
    command = [*python_with("confluent-kafka", "confluent-kafka==2.16.1")]
    driver = HERE.parent / "confluent_kafka" / "driver.py"
    records = [Sent(None, one.encode(), partition=n % PARTITIONS) for n, one in enumerate(values)]
    Client([*command, str(driver)], node.bootstrap).produce(topic, records)
    return values


@pytest.mark.parametrize("program", [librdkafka, java])
def test_every_record_is_copied_once_while_the_node_is_killed(
    node: Killable, topic: Callable[..., str], program: Callable[[], list[str]]
) -> None:
    source, target, group = topic(PARTITIONS, **KEPT), topic(2, **KEPT), new_name("copiers")
    values = fill(node, source)
    words = ["copy", node.bootstrap, source, target, group]
    copiers = [Program([*program(), *words, f"{group}-{n}"]) for n in range(2)]
    try:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while True:
            assert time.monotonic() < deadline, [one.words() for one in copiers]
            for one in copiers:
                one.check()
            copied = sum(one.latest("copied") for one in copiers)
            if node.kills < KILLS and copied >= RECORDS // (KILLS + 1) * (node.kills + 1):
                node.kill()
            with contextlib.suppress(OSError, AssertionError):
                if committed(node, group, source) == [RECORDS // PARTITIONS] * PARTITIONS:
                    break
            time.sleep(0.05)
        for one in copiers:
            one.end()
    finally:
        for one in copiers:
            one.discard()
    assert node.kills == KILLS, "the copiers were done before the node was killed often enough"
    seen = read(node, target, "read_committed")
    assert sorted(value for _, value in seen) == sorted(values)
    assert {key for key, _ in seen} == {"kept"}
    assert "aborted" in {key for key, _ in read(node, target, "read_uncommitted")}
