from __future__ import annotations

import pytest
from tests.controller.test_decision import turn_of
from tests.controller.world import World, directory, kinds

from quire.controller.topics import name_refusal, new_id
from quire.errors import ErrorCode
from quire.protocol.messages import create_partitions as growing
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import metadata_records as records


def asked(name, partitions=1, factor=1, assignments=(), configs=()):
    return creating.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            creating.CreatableReplicaAssignment(partition_index=index, broker_ids=list(one))
            for index, one in assignments
        ],
        configs=[creating.CreatableTopicConfig(name=key, value=value) for key, value in configs],
    )


def create(world, *topics, validate_only=False):
    return world.do(creating.CreateTopicsRequest(topics=list(topics), validate_only=validate_only))


def outcome(world, *args, **kwargs):
    """The error of a single topic, and its sentence."""
    decision = create(world, asked(*args, **kwargs))
    assert decision.records == () or decision.response.topics[0].error_code == 0
    result = decision.response.topics[0]
    return ErrorCode(result.error_code), result.error_message


def delete(world, *topics):
    request = deleting.DeleteTopicsRequest(
        topics=[deleting.DeleteTopicState(name=name, topic_id=ident) for name, ident in topics],
        timeout_ms=1,
    )
    return world.do(request)


def grow(world, name, count, assignments=None, **more):
    topic = growing.CreatePartitionsTopic(
        name=name,
        count=count,
        assignments=None
        if assignments is None
        else [growing.CreatePartitionsAssignment(broker_ids=one) for one in assignments],
    )
    topics = [topic] * more.pop("times", 1)
    return world.do(
        growing.CreatePartitionsRequest(
            topics=topics, timeout_ms=1, validate_only=more.pop("validate_only", False)
        )
    )


def test_a_topic_is_its_record_its_settings_and_its_partitions():
    world = World().start(1, 2, 3)
    decision = create(world, asked("t", 2, 3, configs=[("a.b", "1")]))
    assert kinds(decision) == ["Topic", "Config", "Partition", "Partition"]
    result = decision.response.topics[0]
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 2, 3)
    assert [(one.name, one.value) for one in result.configs] == [("a.b", "1")]
    assert world.image.topics["t"].topic_id == result.topic_id
    partition = world.partition("t")
    assert partition.leader == partition.replicas[0]
    assert partition.isr == partition.replicas
    assert partition.directories == tuple(directory(one) for one in partition.replicas)


def test_a_topic_with_a_min_isr_of_its_own_starts_its_elr_over():
    world = World().start(1)
    decision = create(world, asked("t", configs=[("min.insync.replicas", "1")]))
    assert kinds(decision) == ["Topic", "Config", "ClearElr", "Partition"]


def test_defaults_of_the_node_are_used_where_the_request_has_none():
    world = World(num_partitions=4, default_replication_factor=2).start(1, 2)
    create(world, asked("t", -1, -1))
    topic = world.image.topics["t"]
    assert {len(one.replicas) for one in topic.partitions.values()} == {2}
    assert len(topic.partitions) == 4


def test_a_dry_run_writes_nothing_and_answers_the_same():
    world = World().start(1)
    decision = create(world, asked("t", 3, 1), validate_only=True)
    assert decision.records == ()
    assert decision.response.topics[0].num_partitions == 3
    assert "t" not in world.image.topics


def test_replicas_given_by_hand_are_taken_and_the_fenced_are_not_in_sync():
    world = World().start(1, 2)
    world.register(3)
    world.topic("t", [3, 2, 1], [1, 3, 2])
    assert world.partition("t").replicas == (3, 2, 1)
    assert (world.partition("t").leader, world.partition("t").isr) == (2, (2, 1))
    assert world.partition("t", 1).isr == (1, 2)


@pytest.mark.parametrize(
    ("partitions", "factor", "code", "sentence"),
    [
        (0, 1, "INVALID_PARTITIONS", "non-positive"),
        (-2, 1, "INVALID_PARTITIONS", "non-positive"),
        (1, 0, "INVALID_REPLICATION_FACTOR", "larger than 0"),
        (1, -2, "INVALID_REPLICATION_FACTOR", "larger than 0"),
        (1, 3, "INVALID_REPLICATION_FACTOR", "only 2 broker"),
        (10_001, 1, "POLICY_VIOLATION", "Excessively large"),
        (2**31 - 1, 1, "POLICY_VIOLATION", "Excessively large"),
    ],
)
def test_counts_that_cannot_be_met_are_refused(partitions, factor, code, sentence):
    world = World().start(1, 2)
    found, message = outcome(world, "t", partitions, factor)
    assert found.name == code
    assert sentence in message


@pytest.mark.parametrize(
    ("assignments", "partitions", "factor", "code"),
    [
        ([(0, [1])], 1, -1, "INVALID_REQUEST"),
        ([(0, [1])], -1, 1, "INVALID_REQUEST"),
        ([(1, [1])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [1]), (0, [2])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [1, 1])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [9])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [1, 2]), (1, [1])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
        ([(0, [3])], -1, -1, "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_assignments_that_cannot_be_are_refused(assignments, partitions, factor, code):
    world = World().start(1, 2)
    world.register(3)
    found, message = outcome(world, "t", partitions, factor, assignments)
    assert found.name == code
    assert message


def test_with_every_broker_fenced_no_topic_can_be_made():
    world = World()
    world.register(1)
    found, message = outcome(world, "t")
    assert found is ErrorCode.INVALID_REPLICATION_FACTOR
    assert "All brokers are currently fenced" in message


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a b", "a/b", "é", "x" * 250], ids=lambda name: name[:4] or "empty"
)
def test_names_that_no_directory_could_bear_are_refused(name):
    assert name_refusal(name) is not None
    found, _ = outcome(World().start(1), name)
    assert found is ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("name", ["x" * 249, "a.b_c-D9", "...", "__consumer_offsets"])
def test_all_other_names_are_fine(name):
    assert name_refusal(name) is None


def test_names_taken_twice_alike_or_reserved_are_refused():
    world = World().start(1)
    create(world, asked("a.b"))
    assert outcome(world, "a.b")[0] is ErrorCode.TOPIC_ALREADY_EXISTS
    assert outcome(world, "a_b") == (
        ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic 'a_b' collides with existing topic: a.b",
    )  # fmt: skip
    assert outcome(world, "__cluster_metadata")[0] is ErrorCode.INVALID_REQUEST
    decision = create(world, asked("x"), asked("x"), asked("y.z"), asked("y_z"))
    codes = {one.name: ErrorCode(one.error_code).name for one in decision.response.topics}
    assert codes == {
        "x": "INVALID_REQUEST", "y.z": "NONE", "y_z": "INVALID_TOPIC_EXCEPTION",
    }  # fmt: skip


def test_settings_are_put_before_their_rules():
    world = World().start(1)
    assert outcome(world, "t", configs=[("bad.one", "1")])[0] is ErrorCode.INVALID_CONFIG
    assert outcome(world, "t", configs=[("a", None)])[0] is ErrorCode.INVALID_CONFIG


def test_too_many_records_for_one_operation_refuse_all_of_it():
    world = World(records_per_operation_max=10).start(1)
    decision = create(world, asked("a", 4), asked("b", 9))
    assert decision.records == ()
    assert {one.error_code for one in decision.response.topics} == {ErrorCode.POLICY_VIOLATION}


def test_an_id_never_begins_with_a_dash_and_is_of_version_4():
    world = World()

    class Dashes:
        drawn = 0

        def below(self, limit):
            return 0

        def bytes(self, size):
            self.drawn += 1
            return bytes([62 << 2]) * size if self.drawn < 3 else b"\x07" * size

    turn = turn_of(world)
    object.__setattr__(turn, "entropy", Dashes())
    found = new_id(turn.entropy)
    assert found[0] == 7
    assert found[6] >> 4 == 4
    assert found[8] >> 6 == 2


def test_topics_are_deleted_by_name_and_by_id():
    world = World().start(1)
    ids = {name: world.topic(name, [1]) for name in "abc"}
    decision = delete(world, ("a", bytes(16)), (None, ids["b"]))
    assert kinds(decision) == ["RemoveTopic", "RemoveTopic"]
    assert [(one.name, one.error_code) for one in decision.response.responses] == [
        ("a", 0), ("b", 0),
    ]  # fmt: skip
    old = deleting.DeleteTopicsRequest(topic_names=["c"], timeout_ms=1)
    assert world.do(old).response.responses[0].topic_id == ids["c"]
    assert dict(world.image.topics) == {}


def test_deletions_that_cannot_be_are_refused():
    world = World().start(1)
    ident = world.topic("a", [1])
    answers = delete(
        world, ("x", bytes(16)), (None, b"x" * 16), ("a", ident), (None, bytes(16)),
        ("y", bytes(16)), ("y", bytes(16)),
    ).response.responses  # fmt: skip
    assert [ErrorCode(one.error_code).name for one in answers] == [
        "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INVALID_REQUEST", "INVALID_REQUEST",
        "INVALID_REQUEST",
    ]  # fmt: skip
    twice = delete(world, ("a", bytes(16)), (None, ident))
    assert [one.error_code for one in twice.response.responses] == [0, ErrorCode.INVALID_REQUEST]
    strict = World(delete_topic_enable=False).start(1)
    strict.topic("a", [1])
    answer = delete(strict, ("a", bytes(16))).response.responses[0]
    assert answer.error_code == ErrorCode.TOPIC_DELETION_DISABLED


def test_a_topic_grows_with_the_replicas_it_has():
    world = World().start(1, 2, 3)
    world.topic("t", [1, 2])
    assert kinds(grow(world, "t", 3)) == ["Partition", "Partition"]
    assert {len(one.replicas) for one in world.image.topics["t"].partitions.values()} == {2}
    grow(world, "t", 4, [[3, 1]])
    assert world.partition("t", 3).replicas == (3, 1)
    assert grow(world, "t", 9, validate_only=True).records == ()


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code"),
    [
        ("x", 2, None, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("t", 2, None, "INVALID_PARTITIONS"),
        ("t", 1, None, "INVALID_PARTITIONS"),
        ("t", -1, None, "INVALID_PARTITIONS"),
        ("t", 3, [[1, 2], [2, 1]], "INVALID_REPLICA_ASSIGNMENT"),
        ("t", 3, [[1]], "INVALID_REPLICA_ASSIGNMENT"),
        ("t", 3, [[1, 9]], "INVALID_REPLICA_ASSIGNMENT"),
        ("t", 20_000, None, "POLICY_VIOLATION"),
    ],
)
def test_growth_that_cannot_be_is_refused(name, count, assignments, code):
    world = World().start(1, 2)
    world.topic("t", [1, 2], [2, 1])
    decision = grow(world, name, count, assignments)
    assert decision.records == ()
    assert ErrorCode(decision.response.results[0].error_code).name == code


def test_growth_named_twice_or_beyond_the_brokers_is_refused():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    assert grow(world, "t", 3, times=2).response.results[0].error_code == ErrorCode.INVALID_REQUEST
    world.lose(1)
    world.lose(2)
    answer = grow(world, "t", 3).response.results[0]
    assert answer.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert isinstance(world.log[-1].message, records.BrokerRegistrationChangeRecord)
