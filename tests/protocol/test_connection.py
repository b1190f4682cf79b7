"""Frames, headers and order, without a socket: any cutting of the stream gives the same requests."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.errors import FrameSizeError, ProtocolError, UnsupportedVersionError
from quire.protocol.apis import Listener
from quire.protocol.connection import (
    SCRATCH_BYTES,
    ClientFraming,
    FrameReceiver,
    ServerFraming,
    api_versions_refusal,
)
from quire.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.metadata import MetadataRequest, MetadataResponse
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from quire.protocol.messages.vote import VoteRequest


def feed(side, data, *, step=None):
    """Fill the side's own buffers with `data`; all that came out."""
    found = []
    position = 0
    while position < len(data):
        buffer = side.buffer()
        count = min(len(buffer), len(data) - position, step or len(data))
        buffer[:count] = data[position : position + count]
        position += count
        found += side.received(count)
    return found


def framed(body):
    return struct.pack(">i", len(body)) + body


def asked(request, version, client_id="me"):
    return b"".join(ClientFraming(client_id).encode_request(request, version)[1])


@settings(max_examples=40, derandomize=True, database=None, deadline=None)
@given(
    bodies=st.lists(
        st.sampled_from([b"", b"x", b"y" * 100, b"z" * 20_000, b"w" * 70_000]), max_size=6
    ),
    step=st.sampled_from([1000, 1, 7, 65_536, None]),
)
def test_any_cutting_of_the_stream_gives_the_same_frames(bodies, step):
    if step is not None and step < 100:
        bodies = [body[:300] for body in bodies]
    stream = b"".join(map(framed, bodies))
    assert feed(FrameReceiver(), stream, step=step) == bodies


def test_a_large_frame_is_received_into_its_own_buffer():
    receiver = FrameReceiver()
    size = 1_000_000
    feed(receiver, framed(bytes(size)))  # from now on it is trusted with as much
    feed(receiver, struct.pack(">i", size) + b"a" * 10)
    buffer = receiver.buffer()
    assert len(buffer) == size - 10
    own = buffer.obj
    buffer[:] = b"b" * len(buffer)
    (frame,) = receiver.received(len(buffer))
    assert frame is own
    assert frame == b"a" * 10 + b"b" * (size - 10)


def test_a_frame_is_never_written_again():
    receiver = FrameReceiver()
    first, second = feed(receiver, framed(b"one") + framed(b"two"))
    view = memoryview(first)
    feed(receiver, framed(b"xxxxxxxxx") * 3 + framed(b"q" * 30_000))
    assert view == b"one"
    assert second == b"two"


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
def test_a_size_outside_the_bound_is_refused(size):
    with pytest.raises(FrameSizeError, match="the bound is 1000"):
        feed(FrameReceiver(1000), struct.pack(">i", size))


def test_memory_follows_what_arrives_and_not_what_is_claimed():
    tracemalloc.start()
    try:
        receivers = [FrameReceiver() for _ in range(4)]
        before, _ = tracemalloc.get_traced_memory()
        for receiver in receivers:
            feed(receiver, struct.pack(">i", 104_857_600) + b"x" * 100)
            assert receiver.pending_bytes == 100
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 4 * 140_000


def test_receivers_that_share_a_scratch_buffer_do_not_mix_their_frames():
    scratch = bytearray(SCRATCH_BYTES)
    receivers = [FrameReceiver(scratch=scratch) for _ in range(3)]
    streams = [framed(bytes([n]) * 50) * 3 + framed(bytes([n]) * 30_000) for n in range(3)]
    found = [[], [], []]
    for position in range(0, len(streams[0]), 37):
        for n, receiver in enumerate(receivers):
            found[n] += feed(receiver, streams[n][position : position + 37])
    for n in range(3):
        assert found[n] == [bytes([n]) * 50] * 3 + [bytes([n]) * 30_000]


def test_an_idle_receiver_with_a_shared_scratch_buffer_takes_next_to_no_memory():
    scratch = bytearray(SCRATCH_BYTES)
    tracemalloc.start()
    try:
        receivers = [FrameReceiver(scratch=scratch) for _ in range(1000)]
        for receiver in receivers:
            feed(receiver, framed(b"x" * 10_000) + b"\0\0")
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1000 * 1000


def test_frames_before_a_refused_one_are_given_out():
    receiver = FrameReceiver(1000)
    assert feed(receiver, framed(b"good") + struct.pack(">i", 1001) + b"more") == [b"good"]
    assert receiver.failure is not None
    with pytest.raises(FrameSizeError):
        receiver.received(0)


def test_a_frame_of_many_chunks_arrives_whole():
    body = bytes(range(256)) * 4096 * 5
    (frame,) = feed(FrameReceiver(), framed(body), step=300_000)
    assert frame == body


def test_a_request_is_read_with_its_header():
    server = ServerFraming(Listener.BROKER)
    stream = asked(MetadataRequest(topics=None), 12, "client-é") + asked(
        MetadataRequest(topics=None), 1, None
    )
    new, old = feed(server, stream)
    assert (new.api.name, new.version, new.correlation_id) == ("Metadata", 12, 0)
    assert new.client_id == "client-é"
    assert old.client_id is None
    assert new.decode() == old.decode() == MetadataRequest(topics=None)


def test_tags_in_a_request_header_are_skipped():
    body = struct.pack(">hhih", 3, 12, 5, -1) + b"\x01\x00\x02ab" + b"\x00\x01\x00\x00"
    (request,) = feed(ServerFraming(Listener.BROKER), framed(body))
    assert request.decode() == MetadataRequest(topics=None)


@pytest.mark.parametrize(
    ("key", "version"),
    [(200, 0), (0, 2), (3, 14), (52, 0), (4, 0), (22, 6), (-1, 0)],
    ids=["key", "old", "new", "other listener", "removed", "unstable", "negative"],
)
def test_what_is_not_served_closes_the_connection(key, version):
    body = struct.pack(">hhih", key, version, 1, -1) + bytes(20)
    with pytest.raises(UnsupportedVersionError):
        feed(ServerFraming(Listener.BROKER), framed(body))


def test_unstable_versions_are_served_when_switched_on():
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1)
    server = ServerFraming(Listener.BROKER, unstable_versions=True)
    (read,) = feed(server, asked(request, 6))
    assert read.decode() == request


def test_a_controller_serves_votes():
    (read,) = feed(
        ServerFraming(Listener.CONTROLLER), asked(VoteRequest(cluster_id=None, topics=[]), 2)
    )
    assert read.api.name == "Vote"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\x03\x00\x0c\x00\x00",
        struct.pack(">hhih", 3, 12, 5, 9) + b"short",
        struct.pack(">hhih", 3, 12, 5, 2) + b"\xff\xfe\x00",
        struct.pack(">hhih", 3, 12, 5, -1),
        struct.pack(">hhih", 3, 12, 5, -1) + b"\x01\x00\x09a",
    ],
)
def test_a_broken_header_is_a_protocol_error(body):
    with pytest.raises(ProtocolError):
        feed(ServerFraming(Listener.BROKER), framed(body))


def test_api_versions_from_the_future_get_our_range_in_version_0():
    body = struct.pack(">hhih", 18, 9, 77, 2) + b"me" + b"\x00" + b"whatever"
    (request,) = feed(ServerFraming(Listener.BROKER), framed(body))
    assert not request.is_supported
    answer = api_versions_refusal(request.correlation_id)
    assert answer == bytes.fromhex("000000100000004d002300000001001200000004")
    client = ClientFraming("me")
    client.encode_request(
        ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4
    )
    (response,) = feed(client, api_versions_refusal(0))
    decoded = response.decode()
    assert decoded.error_code == 35
    assert decoded.api_keys == [ApiVersion(api_key=18, min_version=0, max_version=4)]


@pytest.mark.parametrize("version", [-1, -32768, 5, 32767])
def test_api_versions_of_any_version_that_is_not_served_are_answered(version):
    body = struct.pack(">hhih", 18, version, 77, -1) + b"\0" * 8
    (request,) = feed(ServerFraming(Listener.BROKER), framed(body))
    assert not request.is_supported


def test_an_api_versions_response_has_the_old_header_in_every_version():
    server = ServerFraming(Listener.BROKER)
    client = ClientFraming("me")
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    _, pieces = client.encode_request(request, 3)
    (read,) = feed(server, b"".join(pieces))
    response = ApiVersionsResponse(error_code=0, api_keys=[], throttle_time_ms=0)
    answer = b"".join(read.encode_response(response))
    assert answer[4:8] == struct.pack(">i", 0)
    assert answer[8:11] == b"\x00\x00\x01"
    assert feed(client, answer)[0].decode() == response


def test_a_conversation_in_order():
    server, client = ServerFraming(Listener.BROKER), ClientFraming("me")
    handshake = SaslHandshakeRequest(mechanism="PLAIN")
    first, pieces = client.encode_request(handshake, 1)
    second, more = client.encode_request(MetadataRequest(topics=[]), 13)
    assert client.awaited == 2
    requests = feed(server, b"".join([*pieces, *more]), step=11)
    assert [one.correlation_id for one in requests] == [first, second]
    answers = [
        SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"]),
        MetadataResponse(brokers=[], topics=[], cluster_id="c", controller_id=1),
    ]
    stream = b"".join(
        b"".join(one.encode_response(answer)) for one, answer in zip(requests, answers, strict=True)
    )
    responses = feed(client, stream, step=5)
    assert [one.decode() for one in responses] == answers
    assert [one.correlation_id for one in responses] == [first, second]
    assert client.awaited == 0


def test_a_response_out_of_order_is_a_protocol_error():
    client = ClientFraming("me")
    client.encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    with pytest.raises(ProtocolError, match="request 7 where 0 was due"):
        feed(client, framed(struct.pack(">i", 7)))


def test_a_response_that_nobody_asked_for_is_a_protocol_error():
    with pytest.raises(ProtocolError, match="nobody asked"):
        feed(ClientFraming("me"), framed(b"\x00\x00\x00\x00"))


def test_a_produce_without_acks_awaits_nothing_and_its_records_are_not_copied():
    records = bytes(100_000)
    data = [PartitionProduceData(index=0, records=records)]
    request = ProduceRequest(
        acks=0,
        timeout_ms=1,
        transactional_id=None,
        topic_data=[TopicProduceData(name="t", partition_data=data)],
    )
    client = ClientFraming(None)
    _, pieces = client.encode_request(request, 9, expects_response=False)
    assert client.awaited == 0
    assert len(pieces) == 3
    assert pieces[1] is records
    (read,) = feed(ServerFraming(Listener.BROKER), b"".join(pieces))
    view = read.decode().topic_data[0].partition_data[0].records
    assert view.obj is read.frame
    assert view == records
