"""A slice is a promise of bytes."""

from __future__ import annotations

from quire.protocol.compiler import codec
from quire.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from quire.sim.disk import SimDisk
from quire.storage.file_slice import FileSlice


def test_a_slice_reads_its_part_of_the_file(home):
    home.open()
    home.fill(2)
    data = home.bytes_of("00000000000000000000.log")
    assert home.log.segments.active.slice(10, 20).read() == data[10:30]


def test_a_message_takes_it_for_records_and_hands_it_on() -> None:
    disk = SimDisk(1)
    file = disk.open("/f", create=True)
    file.write(0, (b"0123456789",))
    slice_ = FileSlice(file, 2, 5)
    answer = FetchResponse(
        throttle_time_ms=0,
        responses=[
            FetchableTopicResponse(
                topic="t",
                partitions=[
                    PartitionData(
                        partition_index=0,
                        error_code=0,
                        high_watermark=1,
                        aborted_transactions=None,
                        records=slice_,  # type: ignore[arg-type]
                    )
                ],
            )
        ],
    )
    pieces = codec(FetchResponse, 11).buffers(answer)
    assert [piece for piece in pieces if piece is slice_] == [slice_]
    assert len(slice_) == 5
    assert slice_.read() == b"23456"
