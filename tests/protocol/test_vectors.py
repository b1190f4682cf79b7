"""Frames of real clients and a real broker are read, and written again to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.protocol.apis import APIS, Listener
from quire.protocol.compiler import codec
from quire.protocol.connection import ServerFraming
from quire.protocol.messages import REQUESTS

VECTORS = Path(__file__).parents[1] / "vectors" / "frames.txt"


def frames(direction: str) -> list[tuple[int, int, bytes]]:
    found = []
    for line in VECTORS.read_text().splitlines():
        words = line.split()
        if words and words[0] == direction:
            found.append((int(words[1]), int(words[2]), bytes.fromhex(words[3])))
    return found


@pytest.mark.parametrize(
    ("key", "version", "frame"), frames("request"), ids=lambda value: str(value)[:12]
)
def test_a_request_of_a_real_client_keeps_its_bytes(key, version, frame):
    request = ServerFraming(Listener.BROKER).parse(frame)
    assert (request.api.key, request.version) == (key, version)
    assert request.client_id is not None
    one = codec(REQUESTS[key][0], version)
    message = one.decode_all(frame, request.body_position)
    assert one.encode(message) == frame[request.body_position :]


@pytest.mark.parametrize(
    ("key", "version", "frame"), frames("response"), ids=lambda value: str(value)[:12]
)
def test_a_response_of_a_real_broker_keeps_its_bytes(key, version, frame):
    header = 4 + APIS[key].response_header_version(version)
    one = codec(REQUESTS[key][1], version)
    message = one.decode_all(frame, header)
    assert one.encode(message) == frame[header:]


def test_the_vectors_cover_old_and_new_clients():
    requests = {(key, version) for key, version, _ in frames("request")}
    assert {key for key, _ in requests} >= {0, 1, 2, 3, 8, 9, 10, 11, 14, 18, 22, 24, 26, 68}
    assert (18, 0) in requests
    assert (0, 13) in requests
