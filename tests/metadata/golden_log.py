"""The metadata logs and snapshots that Apache Kafka wrote, read as batches of decoded records."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from quire.metadata.records import MetadataRecord, decode_value
from quire.metadata.replay import Replay
from quire.records.batch import decode_batch, iterate_headers

GOLDEN = Path(__file__).parents[1] / "golden"
ONE_NODE = GOLDEN / "data-clean" / "__cluster_metadata-0"
THREE_NODES = GOLDEN / "three-node-metadata-0"
LOG = "00000000000000000000.log"


class GoldenBatch(NamedTuple):
    base_offset: int
    last_offset: int
    quorum_epoch: int
    records: list[MetadataRecord]
    values: list[bytes]


def batches(path: Path) -> list[GoldenBatch]:
    """The data batches of a log or snapshot, control batches left out."""
    data = path.read_bytes()
    found = []
    for position, header in iterate_headers(data):
        if header.is_control:
            continue
        values = [bytes(record.value or b"") for record in decode_batch(data, position)]
        found.append(
            GoldenBatch(
                header.base_offset,
                header.last_offset,
                header.partition_leader_epoch,
                [decode_value(value) for value in values],
                values,
            )
        )
    return found


def replayed(path: Path, *, until: int | None = None) -> Replay:
    """The log below offset `until`, replayed."""
    replay = Replay()
    for batch in batches(path):
        if until is not None and batch.base_offset >= until:
            break
        replay.load(
            [record.message for record in batch.records],
            last_offset=batch.last_offset,
            quorum_epoch=batch.quorum_epoch,
        )
    return replay


def snapshot_messages(path: Path) -> list[MetadataRecord]:
    return [record for batch in batches(path) for record in batch.records]
