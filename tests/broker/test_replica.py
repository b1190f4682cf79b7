from __future__ import annotations

import pytest
from tests.broker.storehouse import Storehouse, tell

from quire.errors import ErrorCode
from quire.records.compression import Compression
from quire.records.validate import TimestampType


@pytest.mark.parametrize(
    ("name", "codec", "level"),
    [
        ("producer", None, None),
        ("uncompressed", Compression.NONE, None),
        ("gzip", Compression.GZIP, -1),
        ("snappy", Compression.SNAPPY, None),
        ("lz4", Compression.LZ4, 9),
        ("zstd", Compression.ZSTD, 3),
    ],
)
def test_each_compression_type_says_what_is_stored(
    name: str, codec: Compression | None, level: int | None
) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", compression_type=name)
        replica = house.replica("orders")
        assert (replica.compression, replica.compression_level) == (codec, level)

    tell(story)


def test_log_append_time_is_a_rule_of_the_batch() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", message_timestamp_type="LogAppendTime")
        replica = house.replica("orders")
        assert replica.timestamp_type is TimestampType.LOG_APPEND_TIME
        assert replica.rules.get("timestamp_type") is TimestampType.LOG_APPEND_TIME

    tell(story)


def test_a_leader_refuses_other_epochs_and_what_is_gone_says_why() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=5)
        replica = house.replica("orders")
        assert [replica.check_leader(epoch) for epoch in (-1, 5, 4, 6)] == [
            ErrorCode.NONE, ErrorCode.NONE,
            ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH,
        ]  # fmt: skip
        house.disk.faults.break_path("/a")
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        house.replicas.failed(replica.hosted.log_dir, OSError(5, "broken"))
        assert replica.check_leader(5) is ErrorCode.KAFKA_STORAGE_ERROR
        assert replica.check_replica(5) is ErrorCode.KAFKA_STORAGE_ERROR

    tell(story)
