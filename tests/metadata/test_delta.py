from __future__ import annotations

from copy import deepcopy

import pytest
from tests.metadata.golden_log import LOG, ONE_NODE, THREE_NODES, batches, replayed

from quire.metadata.delta import Delta, MetadataError
from quire.metadata.image import CLUSTER_DEFAULTS, EMPTY, ConfigResource, Image
from quire.protocol.messages import metadata_records as records

TOPIC_ID = b"t" * 16


def topic_messages(name="t", topic_id=TOPIC_ID, partitions=2):
    yield records.TopicRecord(name=name, topic_id=topic_id)
    for index in range(partitions):
        yield records.PartitionRecord(
            partition_id=index, topic_id=topic_id, replicas=[1, 2], isr=[1, 2],
            removing_replicas=[], adding_replicas=[], leader=1, leader_epoch=0, partition_epoch=0,
            directories=[b"a" * 16, b"b" * 16],
        )  # fmt: skip


def after(image: Image, *messages) -> tuple[Image, Delta]:
    delta = Delta(image)
    for message in messages:
        delta.replay(message)
    return delta.apply(image.offset + len(messages), 1), delta


@pytest.fixture
def image() -> Image:
    return after(EMPTY, *topic_messages(), *topic_messages("u", b"u" * 16))[0]


def test_the_image_below_a_delta_never_changes():
    for batch in batches(THREE_NODES / LOG)[:40]:
        before = replayed(THREE_NODES / LOG, until=batch.base_offset).image
        copy = deepcopy(before)
        delta = Delta(before)
        if batch.base_offset > 10:  # the first batch is a transaction: test_replay
            for record in batch.records:
                delta.replay(record.message)
            delta.apply(batch.last_offset, 1)
        assert before == copy


def test_what_nothing_touched_is_shared(image):
    change = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=[1])
    new, _ = after(image, change)
    assert new.topics["u"] is image.topics["u"]
    assert new.topics["t"].partitions[1] is image.topics["t"].partitions[1]
    assert new.brokers is image.brokers
    assert new.topic_names is image.topic_names


def test_a_partition_change_raises_its_epoch_and_a_named_leader_the_leader_epoch(image):
    quiet = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=[1])
    same = records.PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader=1)
    new, delta = after(image, quiet, same)
    first, second = new.topics["t"].partitions[0], new.topics["t"].partitions[1]
    assert (first.partition_epoch, first.leader_epoch, first.isr) == (1, 0, (1,))
    assert (second.partition_epoch, second.leader_epoch, second.isr) == (1, 1, (1, 2))
    assert list(delta.touched.partitions) == [(TOPIC_ID, 0), (TOPIC_ID, 1)]


def test_changed_leaders_are_those_whose_leader_epoch_or_isr_is_another(image):
    delta = Delta(image)
    directories = [b"c" * 16, b"b" * 16]
    delta.replay(
        records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, directories=directories)
    )
    delta.replay(records.PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, isr=[2]))
    assert delta.changed_leaders() == [(TOPIC_ID, 1)]


def test_an_empty_isr_is_not_an_unchanged_one(image):
    change = records.PartitionChangeRecord(
        partition_id=0, topic_id=TOPIC_ID, isr=[], leader=-1, eligible_leader_replicas=[1],
        last_known_elr=[1],
    )  # fmt: skip
    partition = after(image, change)[0].topics["t"].partitions[0]
    assert (partition.isr, partition.leader, partition.elr) == ((), -1, (1,))
    cleared = after(after(image, change)[0], records.ClearElrRecord(topic_name="t"))[0]
    assert cleared.topics["t"].partitions[0].elr == ()
    everywhere = after(after(image, change)[0], records.ClearElrRecord(topic_name=""))[0]
    assert everywhere.topics["t"].partitions[0].last_known_elr == ()


def test_a_removed_topic_takes_its_settings_along(image):
    setting = records.ConfigRecord(resource_type=2, resource_name="t", name="a", value="1")
    configured, _ = after(image, setting)
    new, delta = after(configured, records.RemoveTopicRecord(topic_id=TOPIC_ID))
    assert "t" not in new.topics
    assert new.topic_by_id(TOPIC_ID) is None
    assert ConfigResource(2, "t") not in new.configs
    assert delta.touched.deleted_topics == {TOPIC_ID: "t"}


def test_a_topic_made_and_removed_in_one_delta_was_never_there():
    new, delta = after(EMPTY, *topic_messages(), records.RemoveTopicRecord(topic_id=TOPIC_ID))
    assert dict(new.topics) == {}
    assert delta.touched.created_topics == {}
    assert delta.touched.deleted_topics == {}


def test_the_last_setting_removed_removes_the_resource(image):
    def setting(value):
        return records.ConfigRecord(resource_type=4, resource_name="", name="a", value=value)

    configured, delta = after(image, setting("1"))
    assert dict(configured.configs) == {CLUSTER_DEFAULTS: {"a": "1"}}
    assert list(delta.touched.configs) == [CLUSTER_DEFAULTS]
    assert dict(after(configured, setting(None))[0].configs) == {}


def test_quotas_of_an_entity_are_found_whatever_the_order_of_its_parts(image):
    def quota(kinds, **more):
        entity = [records.EntityData(entity_type=kind, entity_name=name) for kind, name in kinds]
        return records.ClientQuotaRecord(entity=entity, key="k", **more)

    set_, _ = after(image, quota([("user", "u"), ("client-id", None)], value=5.0, remove=False))
    assert len(set_.quotas) == 1
    gone = after(set_, quota([("client-id", None), ("user", "u")], value=0.0, remove=True))[0]
    assert dict(gone.quotas) == {}


def test_rules_credentials_and_tokens_come_and_go():
    rule = records.AccessControlEntryRecord(
        id=b"r" * 16, resource_type=2, resource_name="t", pattern_type=3, principal="User:a",
        host="*", operation=3, permission_type=3,
    )  # fmt: skip
    scram = records.UserScramCredentialRecord(
        name="a", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
    )
    token = records.DelegationTokenRecord(
        owner="User:a", requester="User:a", renewers=["User:b"], issue_timestamp=1, max_timestamp=9,
        expiration_timestamp=5, token_id="x",
    )  # fmt: skip
    full, _ = after(
        EMPTY, rule, scram, token, records.ProducerIdsRecord(broker_id=1, next_producer_id=1000)
    )
    assert (len(full.acls), len(full.scram), len(full.tokens)) == (1, 1, 1)
    assert full.next_producer_id == 1000
    empty, delta = after(
        full,
        records.RemoveAccessControlEntryRecord(id=b"r" * 16),
        records.RemoveUserScramCredentialRecord(name="a", mechanism=1),
        records.RemoveDelegationTokenRecord(token_id="x"),
    )
    assert (dict(empty.acls), dict(empty.scram), dict(empty.tokens)) == ({}, {}, {})
    assert list(delta.touched.acls) == [b"r" * 16]


def test_brokers_are_fenced_in_the_old_words_too():
    registration = records.RegisterBrokerRecord(
        broker_id=1, incarnation_id=bytes(16), broker_epoch=4, end_points=[], features=[], rack="r"
    )
    image = after(EMPTY, registration, records.UnfenceBrokerRecord(id=1, epoch=4))[0]
    assert not image.brokers[1].fenced
    assert after(image, records.FenceBrokerRecord(id=1, epoch=4))[0].brokers[1].fenced
    gone, delta = after(image, records.UnregisterBrokerRecord(broker_id=1, broker_epoch=4))
    assert dict(gone.brokers) == {}
    assert list(delta.touched.brokers) == [1]


def test_a_feature_at_level_zero_is_not_kept():
    def level(number):
        return records.FeatureLevelRecord(name="group.version", feature_level=number)

    image, delta = after(EMPTY, level(1))
    assert dict(image.features) == {"group.version": 1}
    assert list(delta.touched.features) == ["group.version"]
    assert dict(after(image, level(0))[0].features) == {}


@pytest.mark.parametrize(
    "message",
    [
        records.RemoveTopicRecord(topic_id=b"x" * 16),
        records.PartitionChangeRecord(partition_id=0, topic_id=b"x" * 16),
        records.PartitionChangeRecord(partition_id=9, topic_id=TOPIC_ID),
        records.TopicRecord(name="t", topic_id=b"x" * 16),
        records.BrokerRegistrationChangeRecord(broker_id=9, broker_epoch=1),
        records.UnregisterBrokerRecord(broker_id=9, broker_epoch=1),
        records.ClearElrRecord(topic_name="nowhere"),
        records.RemoveAccessControlEntryRecord(id=b"x" * 16),
        records.RemoveUserScramCredentialRecord(name="x", mechanism=1),
        records.RemoveDelegationTokenRecord(token_id="x"),
        records.BeginTransactionRecord(),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_record_about_what_is_not_there_is_refused(image, message):
    with pytest.raises(MetadataError):
        Delta(image).replay(message)


def test_a_delta_over_the_whole_log_gives_the_image_of_its_batches():
    log = batches(ONE_NODE / LOG)[1:]
    start = replayed(ONE_NODE / LOG, until=log[0].base_offset).image
    delta = Delta(start)
    for batch in log:
        for record in batch.records:
            delta.replay(record.message)
    assert delta.apply(log[-1].last_offset, 1) == replayed(ONE_NODE / LOG).image
