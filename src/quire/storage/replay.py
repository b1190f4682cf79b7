"""Producer state from the log itself: the same steps after an append, in recovery and after a cut.

See   storage.producer_state (what is kept), storage.transaction_index (what is indexed)
"""

from __future__ import annotations

from quire.records.batch import BatchHeader, decode_records
from quire.records.control import read_control_type, read_end_transaction_marker
from quire.records.record import Buffer
from quire.storage import scan
from quire.storage.log_state import LogState
from quire.storage.producer_state import ProducerStates
from quire.storage.segment import Segment
from quire.storage.transaction_index import AbortedTransaction


def track(
    producers: ProducerStates, header: BatchHeader, buffer: Buffer, at: int
) -> AbortedTransaction | None:
    """Tell the producer states of a batch; the transaction that it aborted, if it did."""
    if not (header.is_control and header.producer_id >= 0):
        producers.apply(header)
        return None
    aborted = None
    for record in decode_records(buffer, at, header):
        if read_control_type(record) is None:
            continue
        marker = read_end_transaction_marker(record)
        completed = producers.apply_marker(
            header,
            coordinator_epoch=marker.coordinator_epoch,
            is_commit=marker.committed,
            offset=record.offset,
        )
        if completed is not None and completed.is_aborted:
            aborted = AbortedTransaction(
                completed.producer_id,
                completed.first_offset,
                completed.last_offset,
                completed.last_stable_offset,
            )
    producers.end_offset = header.next_offset
    return aborted


def restore_producers(log: LogState, *, end_offset: int, now_ms: int) -> list[str]:
    """Make the producer states those below `end_offset`; which snapshots were broken."""
    reload = log.producers.truncate_and_reload(
        log_start_offset=log.log_start_offset, log_end_offset=end_offset, now_ms=now_ms
    )
    if reload.end_offset < end_offset:
        first = log.segments.index_for(reload.end_offset)
        for segment in log.segments[first:]:
            if segment.base_offset >= end_offset:
                break
            _replay_segment(log.producers, segment, reload.end_offset, end_offset)
    log.producers.end_offset = max(log.producers.end_offset, end_offset)
    return [str(error) for error in reload.discarded]


def _replay_segment(
    producers: ProducerStates, segment: Segment, start_offset: int, end_offset: int
) -> None:
    """Replay the batches of one segment; only markers are read whole."""
    start = segment.offset_index.position_for(start_offset)
    for position, header in scan.headers(
        segment.file, start, segment.size, chunk_bytes=scan.SCAN_CHUNK_BYTES
    ):
        if header.base_offset >= end_offset:
            return
        if header.last_offset < start_offset or header.producer_id < 0:
            continue
        if header.is_control:
            track(producers, header, segment.file.read(position, header.size), 0)
        else:
            producers.apply(header)
