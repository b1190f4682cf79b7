"""Kafka Streams counts words with `exactly_once_v2` while the application is killed, and the node.

The last count of every word, as a reader of committed data sees it, is how often the word was said.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import peer
from tests.compat.client import Client, Sent, new_name
from tests.compat.environments import java_program
from tests.compat.exactly_once.programs import Program
from tests.compat.exactly_once.test_copying import librdkafka, read
from tests.compat.scenarios import KEPT
from tests.interop.killable import Killable

pytestmark = [pytest.mark.compat, pytest.mark.slow]

HERE = Path(__file__).parent
DRIVER = str(HERE.parent / "confluent_kafka" / "driver.py")
PARTITIONS = 2
LINES = 500
"""Said in each of the parts."""
WORDS = ("one", "two", "three", "four", "five", "six", "seven")
GIVE_UP_SECONDS = 120


def say(node: Killable, topic: str, part: int) -> Counter[str]:
    """Produce some lines; how often each word is in them."""
    lines = [" ".join(WORDS[: 1 + (n + part) % len(WORDS)]) for n in range(LINES)]
    records = [Sent(None, one.encode(), partition=n % PARTITIONS) for n, one in enumerate(lines)]
    Client([librdkafka()[0], DRIVER], node.bootstrap).produce(topic, records)
    return Counter(word for line in lines for word in line.split())


def counted(node: Killable, topic: str) -> dict[str, int]:
    """The last committed count of each word."""
    return {word: int(count) for word, count in read(node, topic, "read_committed")}


def until_counted(node: Killable, topic: str, enough: Callable[[dict[str, int]], bool]) -> None:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not enough(found := counted(node, topic)):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def test_words_are_counted_once_while_the_application_and_the_node_are_killed(
    node: Killable, topic: Callable[..., str], tmp_path: Path
) -> None:
    source, target = topic(PARTITIONS, **KEPT), topic(1, **KEPT)
    command = java_program(
        "streams", HERE / "WordCount.java", main_class="WordCount", jars=peer.require_streams
    )
    command += [node.bootstrap, source, target, new_name("words"), str(tmp_path / "state")]
    wanted = say(node, source, 0)
    first = Program(command)
    second = None
    try:
        until_counted(node, target, lambda found: found == wanted)
        wanted += say(node, source, 1)
        first.kill()
        second = Program(command)
        until_counted(node, target, lambda found: found == wanted)
        wanted += say(node, source, 2)
        node.kill()
        until_counted(node, target, lambda found: found == wanted)
        for part in range(3, 6):
            wanted += say(node, source, part)
            node.kill()
        until_counted(node, target, lambda found: sum(found.values()) >= wanted.total())
        second.end()
    finally:
        for one in (first, second):
            if one is not None:
                one.discard()
    assert counted(node, target) == wanted
