"""What replicas are told to be: leaders and followers, settings, brokers that come and go."""

from __future__ import annotations

from tests.broker.storehouse import NODE, Storehouse, tell

from quire.protocol.messages import metadata_records as records


def second(*, epoch: int = 9, fenced: bool = False) -> records.RegisterBrokerRecord:
    return records.RegisterBrokerRecord(
        broker_id=2, incarnation_id=bytes(16), broker_epoch=epoch, features=[], rack=None,
        fenced=fenced, end_points=[],
    )  # fmt: skip


def fetched_by_second(house: Storehouse, offset: int, *, epoch: int = 9) -> None:
    replica = house.replica("orders")
    assert replica.leader is not None
    change = replica.leader.on_follower_fetch(
        2, fetch_offset=offset, log_start_offset=0, broker_epoch=epoch,
        now_ms=house.clock.monotonic_ms(),
    )  # fmt: skip
    if change is not None:
        house.replicas.isr_changes[replica] = change
    house.replicas.advance(replica, replica.leader.high_watermark)


def test_a_new_leader_notes_in_the_history_where_its_epoch_begins() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2), leader_epoch=2)
        house.append("orders", 4)
        for leader in (2, NODE):
            await house.learn(
                records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=leader)
            )
        log = house.replica("orders").log
        assert log.end_offset_for_epoch(2) == (2, 4)
        assert log.leader_epochs.latest_epoch == 4
        said = [line for line in house.journal.lines if "orders-0" in line]
        assert ["follows 2" in line for line in said[-2:]] == [True, False]

    tell(story)


def test_the_same_epoch_with_another_isr_keeps_the_leader_and_what_it_knows() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(second())
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 4)
        fetched_by_second(house, 3)
        leader = house.replica("orders").leader
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, isr=[NODE])
        )
        assert house.replica("orders").leader is leader
        assert leader is not None
        assert leader.isr == (NODE,)
        assert house.replica("orders").log.high_watermark == 3, "2 has not been gone for long"

    tell(story)


def test_who_leads_no_more_asks_for_no_change_of_the_isr() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(second())
        topic_id = await house.topic("orders", replicas=(NODE, 2), isr=(NODE,))
        fetched_by_second(house, 0)
        assert len(house.replicas.isr_changes) == 1
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        assert house.replicas.isr_changes == {}

    tell(story)


def test_a_replica_that_is_taken_away_leaves_nothing_to_ask_or_report() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(second())
        unassigned = bytes(15) + b"\x01"
        topic_id = await house.topic(
            "orders", replicas=(NODE, 2), isr=(NODE,), directory=unassigned
        )
        fetched_by_second(house, 0)
        assert len(house.replicas.isr_changes) == len(house.replicas.unreported) == 1
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        assert house.replicas.isr_changes == {}
        assert house.replicas.unreported == {}

    tell(story)


def test_a_fenced_broker_does_not_join_an_isr_and_an_unfenced_one_does() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(second(fenced=True))
        await house.topic("orders", replicas=(NODE, 2), isr=(NODE,))
        fetched_by_second(house, 0)
        assert house.replicas.isr_changes == {}
        await house.learn(records.UnfenceBrokerRecord(id=2, epoch=9))
        fetched_by_second(house, 0)
        (change,) = house.replicas.isr_changes.values()
        assert [broker for broker, _ in change.isr] == [NODE, 2]

    tell(story)


def test_a_lower_min_isr_lets_the_high_watermark_go_on_at_once() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2), isr=(NODE,), min_insync_replicas="2")
        house.append("orders", 3)
        assert house.replica("orders").log.high_watermark == 0
        await house.learn(
            records.ConfigRecord(
                resource_type=2, resource_name="orders", name="min.insync.replicas", value="1"
            )
        )
        assert house.replica("orders").log.high_watermark == 3

    tell(story)


def test_settings_of_one_topic_leave_the_others_as_they_are() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        await house.topic("other")
        before = house.replica("other").settings
        await house.learn(
            records.ConfigRecord(
                resource_type=2, resource_name="orders", name="max.message.bytes", value="77"
            )
        )
        assert house.replica("orders").settings.max_message_bytes == 77
        assert house.replica("other").settings is before

    tell(story)
