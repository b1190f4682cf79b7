from __future__ import annotations

from tests.tools.scene import asked

from quire.protocol.apis import ApiKey
from quire.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from quire.tools.topic.list import rows


def topics(_request, _version):
    def one(name: str, *, internal: bool) -> MetadataResponseTopic:
        partitions = [
            MetadataResponsePartition(
                error_code=0, partition_index=i, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1]
            )
            for i in range(3)
        ]
        return MetadataResponseTopic(
            error_code=0,
            name=name,
            topic_id=b"1" * 16,
            is_internal=internal,
            partitions=partitions,
        )

    listed = [one("orders", internal=False), one("__consumer_offsets", internal=True)]
    return MetadataResponse(brokers=[], topics=listed)


def test_topics_are_listed_by_name_internal_ones_only_when_asked_for() -> None:
    scripts = {ApiKey.METADATA: topics}
    found, _ = asked(lambda cluster: rows(cluster, internal=False), scripts)
    assert found == [{"topic": "orders", "partitions": 3, "replicas": 2, "internal": False}]
    found, _ = asked(lambda cluster: rows(cluster, internal=True), scripts)
    assert [row["topic"] for row in found] == ["__consumer_offsets", "orders"]
