from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest
from tests.metadata.golden_log import (
    LOG,
    ONE_NODE,
    THREE_NODES,
    batches,
    replayed,
    snapshot_messages,
)

from quire.metadata.image import EMPTY
from quire.metadata.records import decode_value, encode_value
from quire.metadata.replay import Replay
from quire.metadata.snapshot import image_of, snapshot_records
from quire.protocol.messages import metadata_records as records

SNAPSHOTS = {
    105: "00000000000000000105-0000000001.checkpoint",
    1594: "00000000000000001594-0000000001.checkpoint",
}


def canonical(record):
    """A record with the lists sorted whose order Apache Kafka leaves to its hash tables."""
    message = decode_value(encode_value(record)).message
    if isinstance(message, records.RegisterBrokerRecord | records.RegisterControllerRecord):
        message.features.sort(key=lambda feature: feature.name)
    return repr(message), record.version


def sections(listed):
    return [
        cls
        for cls, _ in groupby(type(record.message) for record in listed)
        if cls not in (records.PartitionRecord, records.TopicRecord)
    ]


@pytest.mark.parametrize("end_offset", SNAPSHOTS)
def test_the_log_below_a_snapshot_gives_the_image_of_the_snapshot(end_offset):
    followed = replayed(ONE_NODE / LOG, until=end_offset).image
    read = image_of(
        [record.message for record in snapshot_messages(ONE_NODE / SNAPSHOTS[end_offset])],
        offset=end_offset - 1,
        quorum_epoch=1,
    )
    assert followed == read


@pytest.mark.parametrize("end_offset", SNAPSHOTS)
def test_our_snapshot_has_the_records_of_kafkas_in_the_same_sections(end_offset):
    theirs = snapshot_messages(ONE_NODE / SNAPSHOTS[end_offset])
    ours = list(snapshot_records(replayed(ONE_NODE / LOG, until=end_offset).image))
    assert Counter(map(canonical, ours)) == Counter(map(canonical, theirs))
    assert sections(ours) == sections(theirs)
    assert ours[0].message.name == theirs[0].message.name == "metadata.version"


@pytest.mark.parametrize("end_offset", SNAPSHOTS)
def test_kafkas_snapshot_read_and_written_keeps_its_order(end_offset):
    theirs = snapshot_messages(ONE_NODE / SNAPSHOTS[end_offset])
    image = image_of([record.message for record in theirs], offset=1, quorum_epoch=1)
    ours = list(snapshot_records(image))
    features = sum(isinstance(record.message, records.FeatureLevelRecord) for record in theirs)
    assert [canonical(r) for r in ours[features:]] == [canonical(r) for r in theirs[features:]]


def test_each_topic_stands_before_its_partitions():
    known = set()
    for record in snapshot_records(replayed(THREE_NODES / LOG).image):
        if isinstance(record.message, records.TopicRecord):
            known.add(record.message.topic_id)
        if isinstance(record.message, records.PartitionRecord):
            assert record.message.topic_id in known
    assert len(known) == 2


def test_every_image_of_the_logs_comes_back_from_its_snapshot():
    for folder in (ONE_NODE, THREE_NODES):
        replay = Replay()
        for batch in batches(folder / LOG):
            replay.load(
                [record.message for record in batch.records],
                last_offset=batch.last_offset,
                quorum_epoch=batch.quorum_epoch,
            )
            image = replay.image
            if len(batch.records) == 1 and isinstance(batch.records[0].message, records.NoOpRecord):
                continue
            values = [encode_value(record) for record in snapshot_records(image)]
            messages = [decode_value(value).message for value in values]
            again = image_of(messages, offset=image.offset, quorum_epoch=image.quorum_epoch)
            assert again == image


def test_an_empty_image_is_an_empty_snapshot():
    assert list(snapshot_records(EMPTY)) == []


def test_rules_and_tokens_are_written_too():
    rule = records.AccessControlEntryRecord(
        id=b"r" * 16, resource_type=2, resource_name="t", pattern_type=3, principal="User:a",
        host="*", operation=3, permission_type=3,
    )  # fmt: skip
    token = records.DelegationTokenRecord(
        owner="User:a", requester="User:a", renewers=["User:b"], issue_timestamp=1, max_timestamp=9,
        expiration_timestamp=5, token_id="x",
    )  # fmt: skip
    image = image_of([rule, token], offset=1, quorum_epoch=1)
    assert [record.message for record in snapshot_records(image)] == [rule, token]
