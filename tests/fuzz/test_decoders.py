"""Broken bytes give a message or a ProtocolError, and take little memory. QUIRE_FUZZ_ITERATIONS=n
tries more of them.
"""

from __future__ import annotations

import os
import random
import struct
import tracemalloc

import pytest
from decoders import attempt, attempt_header, corpus, mutate, run
from message_values import random_message

from quire.errors import ProtocolError
from quire.protocol.compiler import codec
from quire.protocol.connection import FrameReceiver
from quire.protocol.messages import MESSAGES
from quire.protocol.schema import declaration_of

ITERATIONS = int(os.environ.get("QUIRE_FUZZ_ITERATIONS", "3000"))


@pytest.mark.parametrize(("name", "version", "data"), corpus(), ids=lambda value: str(value)[:30])
def test_the_corpus_is_still_a_message_or_a_typed_error(name, version, data):
    attempt(name, version, data)
    attempt_header(data)


@pytest.mark.parametrize("seed", [1, 2])
def test_wounded_messages_are_messages_or_typed_errors(seed):
    assert run(seed, iterations=ITERATIONS) == ITERATIONS


def test_wounded_streams_are_frames_or_typed_errors():
    chance = random.Random(3)
    stream = b"".join(struct.pack(">i", size) + bytes(size) for size in (0, 5, 20_000, 7))
    for _ in range(200):
        receiver = FrameReceiver(100_000)
        wounded = mutate(stream, chance)
        position = 0
        try:
            while position < len(wounded):
                buffer = receiver.buffer()
                count = min(len(buffer), len(wounded) - position, chance.randint(1, 9000))
                buffer[:count] = wounded[position : position + count]
                position += count
                for frame in receiver.received(count):
                    assert len(frame) <= 100_000
        except ProtocolError:
            continue


@pytest.mark.parametrize(
    "name",
    ["FetchRequest", "FetchResponse", "MetadataResponse", "ProduceRequest", "JoinGroupResponse",
     "DescribeConfigsResponse", "PartitionChangeRecord", "VoteRequest"],
)  # fmt: skip
def test_an_input_takes_memory_in_proportion_to_its_size(name):
    chance = random.Random(name)
    for version in declaration_of(MESSAGES[name]).versions:
        one = codec(MESSAGES[name], version)
        valid = one.encode(random_message(MESSAGES[name], version, chance))
        inputs = [mutate(valid, chance) for _ in range(10)]
        inputs += [struct.pack(">i", 2**31 - 1) * 250, b"\xff\xff\xff\xff\x07" * 200]
        inputs += [b"\x01" * 1000, b"\x7f" * 1000, bytes(1000)]
        for data in inputs:
            tracemalloc.start()
            try:
                attempt(name, version, data)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 65_536 + 300 * len(data)
