"""kcat, the command line of librdkafka, as Debian packages it; typed as its users type it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from tests.compat import wire
from tests.compat.environments import debian_program

from quire.records.batch import Compression

pytestmark = pytest.mark.compat

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RUN_SECONDS = 60
PACKAGES = ("kcat", "librdkafka1", "libyajl2")


class Kcat:
    def __init__(self, bootstrap: str) -> None:
        self._command, self._environment = debian_program("kcat", "kcat", *PACKAGES)
        self.bootstrap = bootstrap

    def run(self, *arguments: str, given: bytes = b"", fails: bool = False) -> bytes:
        done = subprocess.run(
            [*self._command, "-b", self.bootstrap, *arguments],
            input=given,
            env={**os.environ, **self._environment},
            capture_output=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert bool(done.returncode) is fails, done.stderr.decode()
        return done.stderr if fails else done.stdout


@pytest.fixture
def kcat(bootstrap: str) -> Kcat:
    return Kcat(bootstrap)


def as_json(printed: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("codec", CODECS)
def test_lines_with_keys_and_headers_come_back(
    kcat: Kcat, topic: Callable[..., str], codec: str
) -> None:
    name = topic()
    lines = [f"key{n}:value {n} {'again ' * 20}" for n in range(500)]
    kcat.run(
        "-P", "-t", name, "-K:", "-z", codec, "-H", "one=1", "-H", "two=☃",
        given="\n".join(lines).encode(),
    )  # fmt: skip
    found = as_json(kcat.run("-C", "-t", name, "-o", "beginning", "-e", "-q", "-J"))
    assert [f"{one['key']}:{one['payload']}" for one in found] == lines
    assert [one["offset"] for one in found] == list(range(500))
    assert found[0]["headers"] == ["one", "1", "two", "☃"]
    used = {
        Compression(batch.header.attributes & 7).name.lower()
        for batch in wire.batches(kcat.bootstrap, name)
    }
    assert used == {codec}


def test_tiny_empty_and_large_messages_travel(kcat: Kcat, topic: Callable[..., str]) -> None:
    name = topic(**{"max.message.bytes": "2000000"})
    large = "x" * 900_000
    kcat.run("-P", "-t", name, "-K:", "-Z", given=f"a:{large}\nb:\nc:y\n".encode())
    found = as_json(kcat.run("-C", "-t", name, "-o", "beginning", "-e", "-q", "-J"))
    assert [(one["key"], one["payload"]) for one in found] == [
        ("a", large),
        ("b", None),
        ("c", "y"),
    ]


def test_reading_begins_where_it_is_told(kcat: Kcat, topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    kcat.run("-P", "-t", name, "-p", "1", given="\n".join(str(n) for n in range(2000)).encode())
    tail = kcat.run("-C", "-t", name, "-p", "1", "-o", "-3", "-e", "-q")
    assert tail.split() == [b"1997", b"1998", b"1999"]
    middle = kcat.run("-C", "-t", name, "-p", "1", "-o", "1000", "-c", "2", "-q", "-f", "%o=%s\n")
    assert middle.split() == [b"1000=1000", b"1001=1001"]
    assert kcat.run("-C", "-t", name, "-p", "0", "-o", "beginning", "-e", "-q") == b""


def test_an_idempotent_producer_is_given_an_id(kcat: Kcat, topic: Callable[..., str]) -> None:
    name = topic()
    kcat.run("-P", "-t", name, "-X", "enable.idempotence=true", given=b"one\ntwo\n")
    headers = [batch.header for batch in wire.batches(kcat.bootstrap, name)]
    assert sum(one.record_count for one in headers) == 2
    assert all(one.producer_id >= 0 for one in headers)


def test_the_cluster_is_listed_and_offsets_are_found_by_time(
    kcat: Kcat, topic: Callable[..., str]
) -> None:
    name = topic(partitions=3)
    kcat.run("-P", "-t", name, "-p", "2", given=b"one\ntwo\n")
    listed = json.loads(kcat.run("-L", "-t", name, "-J"))
    assert [one["id"] for one in listed["brokers"]] == [1]
    (found,) = listed["topics"]
    assert [
        (one["partition"], one["leader"], [r["id"] for r in one["isrs"]])
        for one in found["partitions"]
    ] == [(0, 1, [1]), (1, 1, [1]), (2, 1, [1])]
    asked = kcat.run("-Q", "-t", f"{name}:2:1").decode()
    assert asked.strip() == f"{name} [2] offset 0"


def test_a_topic_that_is_not_there_is_told(kcat: Kcat) -> None:
    words = kcat.run("-C", "-t", "no-such-topic", "-e", "-X", "allow.auto.create.topics=false",
                     fails=True)  # fmt: skip
    assert b"Unknown topic" in words
