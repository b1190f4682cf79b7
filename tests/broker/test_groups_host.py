from __future__ import annotations

from tests.broker.storehouse import STATIC, Storehouse, tell

from quire.broker.groups_host import groups_host
from quire.broker.internal_topics import OFFSETS
from quire.config.layers import BrokerLayers
from quire.groups.coordinator import GroupCoordinator
from quire.metadata.delta import Touched
from quire.records.compression import Compression


def test_each_partition_of_the_offsets_topic_has_a_machine_of_groups() -> None:
    async def story(house: Storehouse) -> None:
        settings = BrokerLayers(
            {**STATIC, "offsets.commit.timeout.ms": "70", "offsets.topic.compression.codec": "1"}
        ).settings
        host = groups_host(
            settings,
            replicas=house.replicas,
            waiting=house.broker.waiting,
            clock=house.clock,
            entropy=house.entropy,
            journal=house.journal,
        )
        assert (host.timeout_ms, host.compression) == (70, Compression.GZIP)
        await house.topic(OFFSETS, partitions=2)
        host.apply(house.image, Touched())
        machines = host.machines()
        assert [(number, type(one)) for number, one in machines] == [
            (0, GroupCoordinator), (1, GroupCoordinator),
        ]  # fmt: skip
        host.stop()

    tell(story)
