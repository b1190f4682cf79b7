"""Laws of every codec: what is written is read again, byte for byte, and failures say where."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from message_values import messages, random_message

from quire.errors import ProtocolError, UnsupportedVersionError
from quire.protocol.compiler import codec, join_small, source_of
from quire.protocol.messages import MESSAGES
from quire.protocol.messages.api_versions import ApiVersionsRequest
from quire.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from quire.protocol.messages.metadata import MetadataRequest
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.protocol.messages.sasl_handshake import SaslHandshakeRequest
from quire.protocol.schema import declaration_of, unknown_tags_of


@pytest.mark.parametrize("name", sorted(MESSAGES))
@settings(
    max_examples=5,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_message_survives_the_way_out_and_back_in_every_version(name, data):
    cls = MESSAGES[name]
    for version in declaration_of(cls).versions:
        message = data.draw(messages(cls, version))
        one = codec(cls, version)
        encoded = one.encode(message)
        decoded, end = one.decode(encoded)
        assert end == len(encoded)
        assert decoded == message
        assert one.encode(decoded) == encoded


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_message_is_read_from_the_middle_of_any_kind_of_buffer(name):
    cls = MESSAGES[name]
    chance = random.Random(name)
    for version in declaration_of(cls).versions:
        one = codec(cls, version)
        message = random_message(cls, version, chance)
        encoded = one.encode(message)
        assert b"".join(one.buffers(message)) == encoded
        padded = b"\xff\xff\xff" + encoded + b"\xff"
        for buffer in (padded, bytearray(padded), memoryview(padded)):
            assert one.decode(buffer, 3) == (message, 3 + len(encoded))


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_message_cut_short_anywhere_is_a_protocol_error_or_a_shorter_message(name):
    cls = MESSAGES[name]
    chance = random.Random(name)
    version = declaration_of(cls).highest
    one = codec(cls, version)
    encoded = one.encode(random_message(cls, version, chance))
    for size in {*range(min(40, len(encoded))), *(chance.randrange(len(encoded) or 1),) * 5}:
        if size < len(encoded):
            with pytest.raises(ProtocolError) as caught:
                one.decode(encoded[:size])
            assert name in str(caught.value)
            assert caught.value.position is not None


def _fetch(**more):
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[], **more)


def test_a_version_that_does_not_exist_is_refused():
    with pytest.raises(UnsupportedVersionError, match="4 to 18"):
        codec(FetchRequest, 3)


def test_codecs_are_compiled_once():
    assert codec(FetchRequest, 12) is codec(FetchRequest, 12)


def test_a_field_that_a_version_lacks_takes_its_default_and_may_not_hold_anything_else():
    message = _fetch(replica_state=ReplicaState(replica_id=3))
    with pytest.raises(ProtocolError, match=r"FetchRequest v12 replica_state: .*cannot carry"):
        codec(FetchRequest, 12).encode(message)
    decoded, _ = codec(FetchRequest, 12).decode(codec(FetchRequest, 12).encode(_fetch()))
    assert decoded.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)


def test_an_ignorable_field_that_a_version_lacks_is_left_out_silently():
    plain = codec(FetchRequest, 4).encode(_fetch())
    assert codec(FetchRequest, 4).encode(_fetch(rack_id="a")) == plain


def test_defaults_are_not_shared_between_messages():
    one = codec(FetchRequest, 4)
    encoded = one.encode(_fetch())
    first, second = one.decode(encoded)[0], one.decode(encoded)[0]
    first.forgotten_topics_data.append("x")
    first.replica_state.replica_id = 9
    assert second.forgotten_topics_data == []
    assert second.replica_state.replica_id == -1


def test_null_is_refused_where_it_has_no_form():
    with pytest.raises(ProtocolError, match="MetadataRequest v0 topics"):
        codec(MetadataRequest, 0).encode(MetadataRequest(topics=None))
    with pytest.raises(ProtocolError, match=r"topics: null where null is not allowed"):
        codec(MetadataRequest, 0).decode(b"\xff\xff\xff\xff")
    assert codec(MetadataRequest, 1).decode(b"\xff\xff\xff\xff")[0].topics is None


def test_a_value_that_does_not_fit_names_its_field():
    with pytest.raises(ProtocolError, match="FetchRequest v12 "):
        codec(FetchRequest, 12).encode(_fetch(session_id=2**31))
    with pytest.raises(ProtocolError, match="SaslHandshakeRequest v1 mechanism"):
        codec(SaslHandshakeRequest, 1).encode(SaslHandshakeRequest(mechanism="x" * 40_000))
    topics = [FetchTopic(topic_id=b"short", partitions=[])]
    with pytest.raises(ProtocolError, match=r"topics\.topic_id: .*uuid of 5 bytes"):
        codec(FetchRequest, 13).encode(FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics))


def test_a_string_that_is_not_utf_8_names_its_field():
    with pytest.raises(ProtocolError, match="mechanism: a string that is not UTF-8"):
        codec(SaslHandshakeRequest, 1).decode(b"\x00\x02\xff\xfe")


def test_a_count_above_what_remains_is_refused_before_anything_is_made():
    body = struct.pack(">iiiib", -1, 0, 0, 0, 0) + struct.pack(">i", 2**31 - 1)
    with pytest.raises(ProtocolError, match="topics: 2147483647 elements where 0 bytes remain"):
        codec(FetchRequest, 4).decode(body)


def test_unknown_tags_are_kept_and_written_again():
    one = codec(ApiVersionsRequest, 3)
    body = b"\x02a\x02b" + b"\x02" + b"\x07\x01x" + b"\x81\x01\x00"
    message, end = one.decode(body)
    assert end == len(body)
    assert unknown_tags_of(message) == ((7, b"x"), (129, b""))
    assert one.encode(message) == body


def test_unknown_tags_next_to_known_ones_keep_their_order():
    one = codec(FetchRequest, 12)
    message = _fetch(cluster_id="c")
    message.unknown_tags = ((9, b"later"),)
    encoded = one.encode(message)
    assert encoded.endswith(b"\x02" + b"\x00\x02\x02c" + b"\x09\x05later")
    assert one.decode(encoded)[0] == message


@pytest.mark.parametrize(
    "section",
    [
        b"\x02" + b"\x07\x00" + b"\x07\x00",
        b"\x02" + b"\x07\x00" + b"\x06\x00",
        b"\x01" + b"\x00\x03\x02c",
        b"\x01" + b"\x00\x01\x02c",
        b"\x01" + b"\x07\x05x",
        b"\x01" + b"\xff\xff\xff\xff\xff\x01\x00",
    ],
    ids=["twice", "descending", "too long", "too short", "past the end", "endless number"],
)
def test_a_broken_tagged_section_is_a_protocol_error(section):
    one = codec(FetchRequest, 12)
    body = one.encode(_fetch())[:-1] + section
    with pytest.raises(ProtocolError, match=r"FetchRequest v12 (tags|cluster_id)"):
        one.decode(body)


def test_a_tagged_field_is_written_only_when_it_differs_from_its_default():
    one = codec(FetchResponse, 12)
    partition = PartitionData(
        partition_index=0, error_code=0, high_watermark=0, aborted_transactions=None, records=None
    )
    response = FetchResponse(
        throttle_time_ms=0,
        responses=[FetchableTopicResponse(topic="t", partitions=[partition])],
    )
    short = one.encode(response)
    partition.current_leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=2)
    long = one.encode(response)
    assert len(long) - len(short) == 2 + 9
    assert one.decode(long)[0] == response


def test_records_are_a_view_on_the_way_in_and_the_same_object_on_the_way_out():
    records = bytes(range(256)) * 32
    one = codec(ProduceRequest, 9)
    message = ProduceRequest(
        acks=-1,
        timeout_ms=1,
        transactional_id=None,
        topic_data=[
            TopicProduceData(
                name="t", partition_data=[PartitionProduceData(index=0, records=records)]
            )
        ],
    )
    pieces = one.buffers(message)
    assert any(piece is records for piece in pieces)
    frame = b"".join(pieces)
    decoded, _ = one.decode(frame)
    view = decoded.topic_data[0].partition_data[0].records
    assert isinstance(view, memoryview)
    assert view.obj is frame
    assert view == records


def test_records_may_be_anything_with_a_length_when_pieces_are_asked_for():
    class FilePart:
        def __len__(self):
            return 70_000

    part = FilePart()
    data = PartitionProduceData(index=0, records=part)
    message = ProduceRequest(
        acks=1,
        timeout_ms=1,
        transactional_id=None,
        topic_data=[TopicProduceData(name="t", partition_data=[data])],
    )
    pieces = codec(ProduceRequest, 8).buffers(message)
    assert pieces[1] is part
    assert pieces[0].endswith(struct.pack(">i", 70_000))


def test_short_pieces_are_joined_and_long_ones_left_alone():
    long = bytes(5000)
    assert join_small([b"a", b"b", long, b"c", b""]) == [b"ab", long, b"c"]


def test_bytes_behind_a_whole_message_are_refused_when_all_must_be_read():
    one = codec(SaslHandshakeRequest, 1)
    assert one.decode_all(b"\x00\x01x").mechanism == "x"
    with pytest.raises(ProtocolError, match="2 bytes too many"):
        one.decode_all(b"\x00\x01x\x00\x00")


def test_the_generated_source_can_be_read():
    text = source_of(FetchRequest, 12)
    assert "def encode(o, append):" in text
    assert "def decode(buf, pos=0):" in text
    compile(text, "shown", "exec")


def test_the_partition_of_a_fetch_is_read_by_one_struct():
    message = _fetch()
    message.topics = [
        FetchTopic(
            topic="orders",
            partitions=[FetchPartition(partition=1, fetch_offset=7, partition_max_bytes=9)],
        )
    ]
    assert codec(FetchRequest, 12).decode(codec(FetchRequest, 12).encode(message))[0] == message
    assert "unpack_iiqiqiB" in source_of(FetchRequest, 12)
