from __future__ import annotations

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.controller.world import CLUSTER_ID, World, kinds

from quire.controller.decision import Settings
from quire.controller.machine import BALANCE, COMMANDS, NO_OP, SESSIONS, UNCLEAN, CommandError
from quire.metadata.snapshot import image_of, snapshot_records
from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages import create_partitions as growing
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.messages import elect_leaders as electing
from quire.protocol.messages import update_features as features
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from quire.protocol.messages.fetch import FetchRequest
from quire.protocol.messages.unregister_broker import UnregisterBrokerRequest
from quire.protocol.schema import declaration_of

BROKERS = st.integers(1, 4)
TOPICS = st.sampled_from(["a", "b", "c.d", "c_d"])


class AnyCluster(RuleBasedStateMachine):
    """Brokers come, go and crash; topics are made, moved and dropped; leaders propose."""

    @initialize(elr=st.booleans(), unclean=st.booleans(), minimum=st.integers(1, 3))
    def begin(self, elr, unclean, minimum):
        self.world = World(
            activate=False, unclean_leader_election_enable=unclean, min_insync_replicas=minimum
        )
        self.world.take(self.world.controller.activate(now_ms=0, next_offset=0))
        if not elr:
            self.level("eligible.leader.replicas.version", 0)
        self.world.start(1, 2, 3)

    def level(self, name, level):
        update = features.FeatureUpdateKey(
            feature=name, max_version_level=level, upgrade_type=2 if level == 0 else 1
        )
        self.world.do(features.UpdateFeaturesRequest(feature_updates=[update]))

    @rule(broker=BROKERS, clean=st.booleans(), rack=st.sampled_from([None, "x", "y"]))
    def register(self, broker, clean, rack):
        known = self.world.image.brokers.get(broker)
        epoch = known.broker_epoch if known and clean else -1
        self.world.do(self.world.registration(broker, previous_epoch=epoch, rack=rack))

    @rule(broker=BROKERS, fence=st.booleans(), stop=st.booleans())
    def heartbeat(self, broker, fence, stop):
        self.world.beat(broker, want_fence=fence, want_shut_down=stop)

    @rule(broker=BROKERS)
    def beat(self, broker):
        self.world.beat(broker)

    @rule(broker=BROKERS)
    def crash(self, broker):
        if broker in self.world.image.brokers:
            self.world.lose(broker)

    @rule(broker=BROKERS)
    def forget(self, broker):
        self.world.do(UnregisterBrokerRequest(broker_id=broker))

    @rule(name=TOPICS, partitions=st.integers(1, 3), factor=st.integers(1, 3))
    def create(self, name, partitions, factor):
        topic = creating.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=factor,
            assignments=[],
            configs=[],
        )
        self.world.do(creating.CreateTopicsRequest(topics=[topic]))

    @rule(name=TOPICS)
    def delete(self, name):
        self.world.do(
            deleting.DeleteTopicsRequest(
                topics=[deleting.DeleteTopicState(name=name, topic_id=bytes(16))], timeout_ms=1
            )
        )

    @rule(name=TOPICS, count=st.integers(1, 5))
    def grow(self, name, count):
        topic = growing.CreatePartitionsTopic(name=name, count=count, assignments=None)
        self.world.do(
            growing.CreatePartitionsRequest(topics=[topic], timeout_ms=1, validate_only=False)
        )

    @rule(name=TOPICS, isr=st.sets(BROKERS, min_size=1), recovering=st.sampled_from([0, 0, 1]))
    def propose(self, name, isr, recovering):
        topic = self.world.image.topics.get(name)
        if topic is not None and topic.partitions[0].leader in self.world.image.brokers:
            self.world.propose(
                name, sorted({*isr, topic.partitions[0].leader}), leader_recovery_state=recovering
            )

    @rule(name=TOPICS, replicas=st.none() | st.lists(BROKERS, max_size=3))
    def move(self, name, replicas):
        one = moving.ReassignablePartition(partition_index=0, replicas=replicas)
        self.world.do(
            moving.AlterPartitionReassignmentsRequest(
                topics=[moving.ReassignableTopic(name=name, partitions=[one])]
            )
        )

    @rule(kind=st.sampled_from([0, 1]))
    def elect(self, kind):
        self.world.do(electing.ElectLeadersRequest(election_type=kind, topic_partitions=None))

    @rule(name=TOPICS, value=st.sampled_from(["1", "2", None]))
    def minimum(self, name, value):
        self.world.set(2, name, "min.insync.replicas", value)

    @rule(level=st.sampled_from([0, 1]))
    def elr(self, level):
        self.level("eligible.leader.replicas.version", level)

    @rule(broker=BROKERS)
    def producer_ids(self, broker):
        known = self.world.image.brokers.get(broker)
        epoch = known.broker_epoch if known else 0
        self.world.do(AllocateProducerIdsRequest(broker_id=broker, broker_epoch=epoch))

    @rule(key=st.sampled_from([NO_OP, SESSIONS, BALANCE, UNCLEAN]), later_ms=st.integers(0, 5000))
    def time(self, key, later_ms):
        self.world.tick(key, later_ms=later_ms)

    @invariant()
    def the_log_is_the_state(self):
        if hasattr(self, "world"):
            assert self.world.again().image == self.world.image

    def teardown(self):
        if hasattr(self, "world"):
            image = self.world.image
            messages = [record.message for record in snapshot_records(image)]
            again = image_of(messages, offset=image.offset, quorum_epoch=image.quorum_epoch)
            assert again == image


TestAnyCluster = AnyCluster.TestCase
TestAnyCluster.settings = hypothesis_settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True
)


def test_every_command_answers_with_the_response_of_its_request():
    world = World().start(1)
    for request in COMMANDS:
        assert declaration_of(request).kind == "request"
    answer = world.do(AllocateProducerIdsRequest(broker_id=1)).response
    assert declaration_of(type(answer)).key == declaration_of(AllocateProducerIdsRequest).key


def test_a_request_without_a_command_and_a_timer_never_set_are_refused():
    world = World()
    with pytest.raises(CommandError, match="FetchRequest"):
        world.do(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]))
    with pytest.raises(CommandError, match="lunch"):
        world.tick("lunch")


def test_taking_office_sets_the_timers():
    world = World()
    decision = world.controller.activate(now_ms=5000, next_offset=len(world.log))
    due = {timer.key: timer.due_ms for timer in decision.timers}
    assert due == {NO_OP: 5500, SESSIONS: 14000, UNCLEAN: 305000, BALANCE: 305000}
    quiet = World(auto_leader_rebalance_enable=False)
    assert BALANCE not in [
        timer.key for timer in quiet.controller.activate(now_ms=0, next_offset=9).timers
    ]


def test_time_is_told_to_the_log_every_idle_interval():
    world = World()
    decision = world.tick(NO_OP, later_ms=500)
    assert kinds(decision) == ["NoOp"]
    assert [(timer.key, timer.due_ms) for timer in decision.timers] == [(NO_OP, world.now_ms + 500)]


def test_an_idle_interval_of_0_means_that_the_log_is_never_told():
    world = World(metadata_max_idle_interval_ms=0)
    timers = world.controller.activate(now_ms=5000, next_offset=len(world.log)).timers
    assert NO_OP not in [timer.key for timer in timers]


def test_the_same_commands_give_the_same_log():
    logs = []
    for _ in range(2):
        world = World().start(3, 1, 2)
        world.topic("t", [1, 2], [2, 3], [3, 1])
        world.lose(2)
        logs.append(world.log)
    assert logs[0] == logs[1]


def test_settings_are_a_value():
    assert Settings(cluster_id=CLUSTER_ID) == Settings(cluster_id=CLUSTER_ID)
