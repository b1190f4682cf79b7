"""Where a client is sent that asked the wrong broker."""

from __future__ import annotations

from tests.broker.storehouse import NODE, Storehouse, tell

from quire.broker import leaders
from quire.protocol.messages import metadata_records as records


async def second_broker(house: Storehouse, *, fenced: bool = False) -> None:
    await house.learn(
        records.RegisterBrokerRecord(
            broker_id=2, incarnation_id=bytes(16), broker_epoch=8, features=[], rack="r2",
            fenced=fenced,
            end_points=[
                records.BrokerEndpoint(name="OUTSIDE", host="o", port=1, security_protocol=0),
                records.BrokerEndpoint(name="PLAINTEXT", host="p", port=2, security_protocol=0),
            ],
        )
    )  # fmt: skip


def test_the_hint_is_the_leader_and_epoch_of_the_image_and_none_of_what_is_unknown() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2), leader=2, leader_epoch=4)
        assert leaders.hint(house.image, "orders", 0) == (2, 4)
        assert leaders.hint(house.image, "orders", 1) is None
        assert leaders.hint(house.image, "nowhere", 0) is None
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=-1)
        )
        assert leaders.hint(house.image, "orders", 0) == (-1, 5)

    tell(story)


def test_the_address_is_the_one_of_the_listener_that_was_asked_on() -> None:
    async def story(house: Storehouse) -> None:
        await second_broker(house)
        assert leaders.address(house.image, 2, "PLAINTEXT") == (2, "p", 2, "r2")
        assert leaders.address(house.image, 2, "OUTSIDE") == (2, "o", 1, "r2")
        assert leaders.address(house.image, 2, "ELSEWHERE") is None

    tell(story)


def test_nobody_is_sent_to_a_broker_that_is_fenced_or_not_there() -> None:
    async def story(house: Storehouse) -> None:
        await second_broker(house, fenced=True)
        assert leaders.address(house.image, 2, "PLAINTEXT") is None
        assert leaders.address(house.image, 3, "PLAINTEXT") is None
        assert leaders.address(house.image, -1, "PLAINTEXT") is None

    tell(story)
