"""How a committed image reaches a broker: the order of its rooms, and settings that are refused."""

from __future__ import annotations

from typing import Any

from tests.broker.storehouse import NODE, Storehouse, tell

from quire.metadata.delta import Delta, Touched
from quire.metadata.image import Image
from quire.node.publish import Publisher, layers_of
from quire.protocol.messages import metadata_records as records


def grown(image: Image, *messages: Any) -> tuple[Image, Touched]:
    delta = Delta(image)
    for message in messages:
        delta.replay(message)
    return delta.apply(image.offset + len(messages), 1), delta.touched


def broker_config(name: str, value: str | None, broker: str = "") -> records.ConfigRecord:
    return records.ConfigRecord(resource_type=4, resource_name=broker, name=name, value=value)


def orders() -> tuple[Any, ...]:
    return (
        records.TopicRecord(name="orders", topic_id=b"t" * 16),
        records.PartitionRecord(
            partition_id=0, topic_id=b"t" * 16, replicas=[NODE], isr=[NODE], leader=NODE,
            removing_replicas=[], adding_replicas=[], leader_epoch=0, partition_epoch=0,
        ),
    )  # fmt: skip


def test_handlers_see_a_topic_when_its_logs_are_there_and_not_before() -> None:
    async def story(house: Storehouse) -> None:
        publisher = Publisher(house.broker, house.journal)
        before = house.broker.image
        image, touched = grown(before, *orders())
        seen: list[tuple[bool, bool]] = []
        run = house.background.run

        def watching(work: Any) -> Any:
            seen.append((house.broker.image is before, "orders" in house.broker.image.topics))
            return run(work)

        house.background.run = watching  # type: ignore[method-assign]
        await publisher.publish(image, touched)
        assert seen
        assert set(seen) == {(True, False)}
        assert house.broker.image is image
        assert house.replica("orders").leader is not None

    tell(story)


def test_the_first_image_is_taken_in_whole_whatever_it_says_has_changed() -> None:
    async def story(house: Storehouse) -> None:
        image, _ = grown(house.image, *orders(), broker_config("message.max.bytes", "777"))
        publisher = Publisher(house.broker, house.journal)
        await publisher.publish(image, Touched())
        assert house.replica("orders").rules.get("max_bytes") == 777
        assert house.broker.layers.settings.message_max_bytes == 777

    tell(story)


def test_an_image_in_which_nothing_changed_is_seen_and_costs_nothing() -> None:
    async def story(house: Storehouse) -> None:
        publisher = Publisher(house.broker, house.journal)
        await publisher.publish(house.image, Touched())
        layers, operations = house.broker.layers, house.disk.operations
        image, touched = grown(house.image, records.NoOpRecord())
        await publisher.publish(image, touched)
        assert house.broker.image is image
        assert house.broker.layers is layers
        assert house.disk.operations == operations

    tell(story)


def test_settings_of_this_broker_come_before_those_of_all_and_of_others_do_not_count() -> None:
    async def story(house: Storehouse) -> None:
        publisher = Publisher(house.broker, house.journal)
        image, touched = grown(
            house.image,
            broker_config("message.max.bytes", "1"),
            broker_config("message.max.bytes", "2", str(NODE)),
            broker_config("message.max.bytes", "3", "7"),
        )
        await publisher.publish(image, touched)
        assert house.broker.layers.settings.message_max_bytes == 2
        image, touched = grown(image, broker_config("message.max.bytes", None, str(NODE)))
        await publisher.publish(image, touched)
        assert house.broker.layers.settings.message_max_bytes == 1

    tell(story)


def test_a_stored_setting_that_is_refused_is_told_once_and_the_next_layer_counts() -> None:
    async def story(house: Storehouse) -> None:
        publisher = Publisher(house.broker, house.journal)
        image, touched = grown(house.image, broker_config("message.max.bytes", "many"))
        await publisher.publish(image, touched)
        assert house.broker.layers.settings.message_max_bytes == 1_048_588
        for number in range(3):
            image, touched = grown(image, broker_config("num.io.threads", str(number + 1)))
            await publisher.publish(image, touched)
        complaints = [line for line in house.journal.lines if "ignored" in line]
        assert len([line for line in complaints if "message.max.bytes" in line]) == 1

    tell(story)


def test_a_limit_of_clients_holds_with_the_image_that_says_so() -> None:
    async def story(house: Storehouse) -> None:
        publisher = Publisher(house.broker, house.journal)
        await publisher.publish(house.image, Touched())
        assert not house.broker.quotas.active
        image, touched = grown(
            house.image,
            records.ClientQuotaRecord(
                entity=[records.EntityData(entity_type="client-id", entity_name="test")],
                key="producer_byte_rate", value=10.0, remove=False,
            ),
        )  # fmt: skip
        await publisher.publish(image, touched)
        assert house.broker.quotas.active

    tell(story)


def test_layers_stay_the_same_object_while_no_setting_changes() -> None:
    async def story(house: Storehouse) -> None:
        before = house.broker.layers
        assert layers_of(before, house.image, NODE) is before
        image, _ = grown(house.image, broker_config("message.max.bytes", "5"))
        after = layers_of(before, image, NODE)
        assert after is not before
        assert layers_of(after, image, NODE) is after

    tell(story)
