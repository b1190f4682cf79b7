from __future__ import annotations

import pytest
from tests.metadata.golden_log import LOG, ONE_NODE, THREE_NODES, batches, replayed

from quire.metadata.delta import MetadataError
from quire.metadata.image import EMPTY
from quire.metadata.replay import Replay
from quire.protocol.messages import metadata_records as records

BEGIN = records.BeginTransactionRecord(name="test")
END = records.EndTransactionRecord()
ABORT = records.AbortTransactionRecord(reason="test")


def level(number):
    return records.FeatureLevelRecord(name="group.version", feature_level=number)


def test_the_log_of_one_node_ends_in_its_controlled_shutdown():
    image = replayed(ONE_NODE / LOG).image
    assert image.offset == 1624
    assert image.brokers[1].fenced
    assert image.brokers[1].in_controlled_shutdown
    assert {partition.isr for _, _, partition in image.partitions()} == {()}
    assert {partition.elr for _, _, partition in image.partitions()} == {(1,)}
    assert sorted(image.topics) == [
        "__consumer_offsets", "__share_group_state", "__transaction_state", "g-compact", "g-plain",
        "g-txn",
    ]  # fmt: skip


def test_the_log_of_three_nodes_keeps_those_eligible_who_left_below_min_isr():
    image = replayed(THREE_NODES / LOG).image
    assert {p.elr for p in image.topics["__transaction_state"].partitions.values()} == {(1, 3)}
    assert {p.elr for p in image.topics["r3"].partitions.values()} == {(3,)}
    assert {p.last_known_elr for _, _, p in image.partitions()} == {(3,)}
    assert sorted(image.controllers) == [1, 2, 3]


def test_a_transaction_counts_at_its_end_and_not_before():
    replay = Replay()
    replay.load([level(1)], last_offset=0, quorum_epoch=1)
    before = replay.image
    replay.load(
        [BEGIN, records.FeatureLevelRecord(name="a", feature_level=1)],
        last_offset=2,
        quorum_epoch=1,
    )
    assert replay.in_transaction
    assert replay.image == before
    replay.load(
        [records.FeatureLevelRecord(name="b", feature_level=1)], last_offset=3, quorum_epoch=1
    )
    assert replay.image == before
    touched = replay.load([END], last_offset=4, quorum_epoch=1)
    assert dict(replay.image.features) == {"group.version": 1, "a": 1, "b": 1}
    assert replay.image.offset == 4
    assert list(touched.features) == ["a", "b"]


def test_an_aborted_transaction_leaves_nothing():
    replay = Replay()
    replay.load([BEGIN, level(1), ABORT], last_offset=2, quorum_epoch=1)
    assert dict(replay.image.features) == {}
    assert replay.image.offset == 2


def test_what_came_before_a_transaction_in_the_same_batch_counts_at_once():
    replay = Replay()
    replay.load([level(1), BEGIN], last_offset=1, quorum_epoch=1)
    assert dict(replay.image.features) == {"group.version": 1}
    assert replay.image.offset == -1


@pytest.mark.parametrize(
    "messages", [[END], [ABORT], [BEGIN, BEGIN]], ids=["end", "abort", "twice"]
)
def test_transactions_out_of_turn_are_refused(messages):
    with pytest.raises(MetadataError):
        Replay().load(messages, last_offset=0, quorum_epoch=1)


@pytest.mark.parametrize("size", [1, 3, 100000])
def test_the_same_log_in_pieces_of_any_size_gives_the_same_image(size):
    log = batches(THREE_NODES / LOG)
    messages = [record.message for batch in log for record in batch.records]
    replay = Replay(EMPTY)
    for start in range(0, len(messages), size):
        replay.load(
            messages[start : start + size], last_offset=start, quorum_epoch=log[-1].quorum_epoch
        )
    replay.load([], last_offset=log[-1].last_offset, quorum_epoch=log[-1].quorum_epoch)
    assert replay.image == replayed(THREE_NODES / LOG).image
