"""Replicas that go to another log directory, in Quire and in Apache Kafka: the same questions, the same answers.

Then each system starts on the directories that the other has left, and reads what was moved.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.compat.client import eventually
from tests.compat.differential.answers import Known, shown
from tests.compat.differential.conversation import Conversation
from tests.compat.differential.corpus import configs, data, reading, topics
from tests.interop.kafka import Kafka, require_java
from tests.interop.quire_node import QuireNode

from quire.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from quire.records.batch import decode_records, iterate_headers

pytestmark = pytest.mark.compat
TOPIC = "wanderer"
VALUES = [b"%d" % number for number in range(20)]


class Pair:
    """A node with two log directories."""

    def __init__(self, make: Callable[[Path, Path], Any], directory: Path, data_of: Path) -> None:
        self.paths = [f"{data_of}/one", f"{data_of}/two"]
        self.node = make(directory, Path(",".join(self.paths)))
        self.talk = Conversation(self.node.port)

    def ask(self, request: Any, version: int) -> Any:
        return shown(self.talk.ask(request, version), Known({}, str(Path(self.paths[0]).parent)))

    def places(self, name: str = TOPIC) -> list[tuple[str, bool]]:
        """(directory, whether it is a copy) of a topic's one replica."""
        answer = self.talk.ask(DescribeLogDirsRequest(topics=None), 5)
        return [
            (result.log_dir, one.is_future_key)
            for result in answer.results
            for topic in result.topics
            for one in topic.partitions
            if topic.name == name
        ]

    def cordoned(self) -> list[str]:
        answer = self.talk.ask(DescribeLogDirsRequest(topics=None), 5)
        return [result.log_dir for result in answer.results if result.is_cordoned]

    def write(self, value: bytes) -> int:
        """The offset, once it is written: a replica that is being exchanged wants to be asked again."""
        found: list[int] = []

        def once() -> bool:
            asked = data.produce(data.batch(1, value=value), TOPIC)(9)
            one = self.talk.ask(asked, 9).responses[0].partition_responses[0]
            found.append(one.base_offset)
            return bool(one.error_code == 0)

        assert eventually(once)
        return found[-1]

    def values(self) -> list[bytes | None]:
        asked = reading.fetch((TOPIC, reading.part()))(12)
        records = bytes(self.talk.ask(asked, 12).responses[0].partitions[0].records)
        return [
            record.value
            for position, header in iterate_headers(records)
            for record in decode_records(records, position, header)
        ]


def lives(pair: Pair) -> list[Any]:
    """The whole story; what was answered on the way."""
    told = []
    pair.talk.settle()
    told.append(pair.ask(topics.create(topics.topic(TOPIC)), 7))
    pair.talk.settle()
    for value in VALUES[:10]:
        pair.write(value)
    (start, _), = pair.places()  # fmt: skip
    to = next(path for path in pair.paths if path != start)
    told += [pair.ask(reading.move(path, (TOPIC, [0])), 2) for path in (start, f"{to}/", to)]
    for value in VALUES[10:]:
        pair.write(value)
    assert eventually(lambda: pair.places() == [(to, False)]), pair.places()
    told.append(pair.ask(configs.change(configs.BROKER, "1", ("cordoned.log.dirs", 0, start)), 1))
    assert eventually(lambda: pair.cordoned() == [start])
    told.append(pair.ask(reading.move(start, (TOPIC, [0])), 2))
    told.append(pair.ask(topics.create(topics.topic("next"), topics.topic("last")), 7))
    pair.talk.settle()
    assert eventually(lambda: all(pair.places(name) for name in (TOPIC, "next", "last")))
    told.append(pair.ask(DescribeLogDirsRequest(topics=None), 5))
    assert pair.values() == VALUES
    return told


def test_a_replica_moves_alike_and_either_system_goes_on_with_it(tmp_path: Path) -> None:
    require_java()
    told = []
    for make, next_make in ((QuireNode, Kafka), (Kafka, QuireNode)):
        home = tmp_path / make.__name__
        pair = Pair(make, home / "node", home)
        pair.node.format()
        with pair.node.running(), pair.talk:
            told.append(lives(pair))
            (moved, _), = pair.places()  # fmt: skip
        heir = Pair(next_make, home / "heir", home)
        with heir.node.running(), heir.talk:
            heir.talk.settle()
            assert eventually(lambda heir=heir, moved=moved: heir.places() == [(moved, False)])
            assert heir.values() == VALUES
    assert told[0] == told[1]
