"""A real node among clients that mean no good, or know no better: others are served, and memory stays bounded."""

from __future__ import annotations

import random
import resource
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from tests.compat.differential.conversation import Conversation
from tests.hostile.asking import (
    TOPIC,
    batch,
    end_offset,
    fetch,
    make_topic,
    produce,
    resident_bytes,
)
from tests.interop.quire_node import QuireNode

from quire.errors import ErrorCode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
IDLE = 10_000
MEGABYTE = 1 << 20
MOST_BYTES = 104_857_600
SPARE_DESCRIPTORS = 500
PATIENCE_SECONDS = 10


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuireNode]:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    node = QuireNode(tmp_path_factory.mktemp("node"))
    node.format()
    with node.running():
        with Conversation(node.port) as talk:
            talk.settle()
            make_topic(talk)
        yield node


@pytest.fixture
def talk(node: QuireNode) -> Iterator[Conversation]:
    """Somebody who was there before, and means well: the connection must last."""
    with Conversation(node.port) as talk:
        assert produce(talk, batch()).error_code == 0
        yield talk


@contextmanager
def connections(node: QuireNode, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", node.port), 10))
            for _ in range(count)
        ]


def assert_served(talk: Conversation) -> None:
    """Writes and reads are answered, and soon."""
    began = time.monotonic()
    answer = produce(talk, batch())
    assert answer.error_code == 0
    assert fetch(talk, answer.base_offset).high_watermark == answer.base_offset + 1
    assert time.monotonic() - began < PATIENCE_SECONDS


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(PATIENCE_SECONDS)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_ten_thousand_idle_connections_cost_little_and_hinder_nobody(
    node: QuireNode, talk: Conversation
) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = min(IDLE, most - SPARE_DESCRIPTORS)
    before = resident_bytes(node)
    with connections(node, count) as idle:
        assert_served(talk)
        with Conversation(node.port) as late:
            assert_served(late)
        grown = resident_bytes(node) - before
        assert grown < len(idle) * 12 * 1024, f"{grown} bytes for {len(idle)} connections"
    assert_served(talk)


def test_who_sends_a_byte_now_and_then_is_heard_out_and_keeps_nobody_waiting(
    node: QuireNode, talk: Conversation
) -> None:
    asked = struct.pack(">ihhih", 13, 18, 0, 7, 3) + b"abc"  # ApiVersions
    with connections(node, 300) as slow:
        for byte in asked:
            for one in slow:
                one.sendall(bytes([byte]))
            assert_served(talk)
        for one in slow:
            one.settimeout(PATIENCE_SECONDS)
            assert one.recv(4)


def test_memory_follows_what_was_sent_and_not_what_was_announced(
    node: QuireNode, talk: Conversation
) -> None:
    before = resident_bytes(node)
    with connections(node, 300) as liars:
        for one in liars:
            one.sendall(struct.pack(">i", MOST_BYTES) + bytes(1000))
        assert_served(talk)
        assert resident_bytes(node) - before < 50 * MEGABYTE
    assert_served(talk)


@pytest.mark.parametrize("size", [-1, -(2**31), MOST_BYTES + 1, 2**31 - 1])
def test_a_size_that_cannot_be_ends_its_connection(
    node: QuireNode, talk: Conversation, size: int
) -> None:
    with connections(node, 1) as (one,):
        one.sendall(struct.pack(">i", size))
        assert is_closed(one)
    assert_served(talk)


def test_random_bytes_harm_nobody(node: QuireNode, talk: Conversation) -> None:
    draw = random.Random(5)
    before = resident_bytes(node)
    for _ in range(20):
        with connections(node, 20) as noisy:
            for one in noisy:
                content = draw.randbytes(draw.randrange(1, 4000))
                one.sendall(struct.pack(">i", len(content)) + content)
                one.sendall(draw.randbytes(draw.randrange(200)))
        assert_served(talk)
    assert resident_bytes(node) - before < 30 * MEGABYTE


def test_who_does_not_read_is_not_written_to_without_end(
    node: QuireNode, talk: Conversation
) -> None:
    value = random.Random(1).randbytes(900_000)
    first = produce(talk, batch(value)).base_offset
    before = resident_bytes(node)
    body = struct.pack(">iiiibi", -1, 0, 0, 50 * MEGABYTE, 0, 1)
    body += struct.pack(">h", len(TOPIC)) + TOPIC.encode()
    body += struct.pack(">iiqi", 1, 0, first, 50 * MEGABYTE)
    asked = struct.pack(">hhih", 1, 4, 7, 0) + body
    with connections(node, 50) as deaf:
        for one in deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall((struct.pack(">i", len(asked)) + asked) * 50)
        assert_served(talk)
        assert resident_bytes(node) - before < 300 * MEGABYTE  # 2.2 GB were asked for
    assert_served(talk)


def test_bad_batches_are_refused_in_words_of_their_own_and_leave_nothing(
    node: QuireNode, talk: Conversation
) -> None:
    end = end_offset(talk)
    good = batch()
    wrong = good[:17] + bytes(4) + good[21:]
    assert produce(talk, wrong).error_code == ErrorCode.CORRUPT_MESSAGE
    assert produce(talk, batch(bytes(2 * MEGABYTE))).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert produce(talk, good + good).error_code == ErrorCode.INVALID_RECORD
    unknown = produce(talk, good, "nobody").error_code
    assert unknown == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert end_offset(talk) == end
    assert_served(talk)
