from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metadata.golden_log import LOG, ONE_NODE, THREE_NODES, batches

from quire.errors import ProtocolError
from quire.metadata.records import (
    CLASSES,
    MetadataRecord,
    decode_value,
    encode_value,
    version_of,
    versioned,
)
from quire.protocol.compiler import codec
from quire.protocol.messages import metadata_records as records

CHANGE = records.BrokerRegistrationChangeRecord
PARTITION = records.PartitionChangeRecord


@pytest.mark.parametrize("folder", [ONE_NODE, THREE_NODES], ids=["one node", "three nodes"])
def test_every_value_that_kafka_wrote_is_decoded_and_encoded_to_the_same_bytes(folder):
    values = [value for batch in batches(folder / LOG) for value in batch.values]
    assert len(values) > 300
    assert [encode_value(decode_value(value)) for value in values] == values


@pytest.mark.parametrize("folder", [ONE_NODE, THREE_NODES], ids=["one node", "three nodes"])
def test_we_choose_the_record_versions_that_kafka_chose_at_level_30(folder):
    for batch in batches(folder / LOG):
        for record in batch.records:
            assert version_of(record.message, 30, with_elr=True) == record.version, record


def test_the_types_of_the_log_are_all_known():
    expected = {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, *range(17, 29)}
    assert set(CLASSES) == expected


@pytest.mark.parametrize(
    ("level", "version"), [(4, 0), (7, 1), (8, 2), (16, 2), (17, 3), (29, 3), (30, 4)]
)
def test_a_registration_is_written_as_its_metadata_version_says(level, version):
    record = records.RegisterBrokerRecord(
        broker_id=1, incarnation_id=bytes(16), broker_epoch=1, end_points=[], features=[], rack=None
    )
    assert versioned(record, level).version == version


@pytest.mark.parametrize(
    ("level", "with_elr", "version"),
    [(16, False, 0), (17, False, 1), (30, False, 1), (30, True, 2)],
)
def test_partitions_are_written_with_directories_and_elr_where_the_levels_allow(
    level, with_elr, version
):
    change = PARTITION(partition_id=0, topic_id=bytes(16), isr=[1])
    assert version_of(change, level, with_elr=with_elr) == version


def test_a_registration_change_is_written_at_the_lowest_version_that_carries_it():
    assert version_of(CHANGE(broker_id=1, broker_epoch=1, fenced=1), 30) == 0
    assert version_of(CHANGE(broker_id=1, broker_epoch=1, in_controlled_shutdown=1), 30) == 1
    assert version_of(CHANGE(broker_id=1, broker_epoch=1, log_dirs=[bytes(16)]), 30) == 2
    assert version_of(CHANGE(broker_id=1, broker_epoch=1, cordoned_log_dirs=[]), 30) == 3


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"", "frame version cannot be read"),
        (b"\x02\x0c\x00", "frame version 2"),
        (b"\x01\x63\x00", "no record has type 99"),
        (b"\x01\x0c", "version cannot be read"),
        (b"\x01\x0c\x07", "versions 0 to 0 exist"),
        (b"\x01\x0c\x00\x05ab", "name"),
        (b"\x01\x14\x00\x00\x00", "bytes too many"),
    ],
)
def test_what_is_no_metadata_record_is_refused_with_its_reason(value, fault):
    with pytest.raises(Exception, match=fault) as refused:
        decode_value(value)
    assert isinstance(refused.value, ProtocolError)


@given(st.binary(max_size=60))
def test_random_bytes_decode_or_raise_a_protocol_error(value):
    try:
        record = decode_value(value)
    except ProtocolError:
        return
    assert codec(type(record.message), record.version)
    assert decode_value(encode_value(record)) == record


@given(st.text(max_size=40), st.integers(-(2**15), 2**15 - 1))
def test_decoding_what_was_encoded_gives_an_equal_record(name, level):
    record = MetadataRecord(records.FeatureLevelRecord(name=name, feature_level=level), 0)
    assert decode_value(encode_value(record)) == record
