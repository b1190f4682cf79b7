from __future__ import annotations

import pytest
from tests.controller.world import World, directory, incarnation, kinds

from quire.errors import ErrorCode
from quire.protocol.messages import broker_registration as registrations
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.unregister_broker import UnregisterBrokerRequest


def test_a_broker_is_registered_fenced_and_its_epoch_is_its_records_offset():
    world = World()
    epoch = world.register(1)
    assert world.log[epoch].message.broker_id == 1
    assert world.log[epoch].version == 4
    broker = world.image.brokers[1]
    assert (broker.fenced, broker.broker_epoch, broker.directories) == (
        True,
        epoch,
        (directory(1),),
    )


def test_a_broker_is_unfenced_once_it_has_read_its_registration_and_wants_in():
    world = World()
    epoch = world.register(1)
    behind = world.beat(1, current_metadata_offset=epoch - 1)
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    assert world.beat(1, want_fence=True).is_fenced
    ready = world.beat(1)
    assert (ready.is_caught_up, ready.is_fenced, ready.should_shut_down) == (True, False, False)
    assert world.log[-1].message.fenced == -1
    assert world.log[-1].version == 0
    assert not world.image.brokers[1].fenced


def refused(world, **more):
    return ErrorCode(world.do(world.registration(1, **more)).response.error_code)


def test_registrations_that_cannot_be_are_refused():
    world = World().start(2)
    assert refused(world, cluster_id="another") is ErrorCode.INCONSISTENT_CLUSTER_ID
    assert refused(world, features=[]) is ErrorCode.INVALID_REGISTRATION
    assert refused(world, log_dirs=[]) is ErrorCode.INVALID_REGISTRATION
    assert refused(world, log_dirs=[directory(1)] * 2) is ErrorCode.INVALID_REGISTRATION
    assert refused(world, log_dirs=[directory(2)]) is ErrorCode.INVALID_REGISTRATION
    assert refused(world, log_dirs=[bytes(15) + b"\x05"]) is ErrorCode.INVALID_REGISTRATION
    assert refused(world, is_migrating_zk_broker=True) is ErrorCode.BROKER_ID_NOT_REGISTERED
    too_old = [
        registrations.Feature(
            name="metadata.version", min_supported_version=7, max_supported_version=29
        )
    ]
    assert refused(world, features=too_old) is ErrorCode.UNSUPPORTED_VERSION
    assert 1 not in world.image.brokers


def test_a_second_process_is_refused_while_the_first_lives():
    world = World().start(1)
    assert refused(world) is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    world.now_ms += 9000
    assert refused(world) is ErrorCode.NONE


@pytest.mark.parametrize("gone", [False, True])
def test_a_new_controller_gives_no_session_to_a_broker_that_is_known_to_be_gone(gone: bool):
    world = World().start(1)
    world.controller = world.again()
    decision = world.controller.activate(
        now_ms=world.now_ms,
        next_offset=len(world.log),
        is_gone=lambda broker: gone and broker.broker_id == 1,
    )
    world.take(decision)
    expected = ErrorCode.NONE if gone else ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert refused(world) is expected


def test_the_same_process_registers_again_with_the_epoch_it_has():
    world = World()
    epoch = world.register(1, incarnation_id=incarnation(77))
    world.beat(1)
    assert world.register(1, incarnation_id=incarnation(77)) == epoch
    assert not world.image.brokers[1].fenced


def test_a_broker_whose_session_ends_is_fenced_and_loses_leads_and_in_sync_sets():
    world = World().start(1, 2)
    world.topic("t", [1, 2], [2, 1])
    world.lose(1)
    assert world.image.brokers[1].fenced
    assert (world.partition("t").leader, world.partition("t").isr) == (2, (2,))
    assert world.partition("t", 1).isr == (2,)
    assert isinstance(world.log[-1].message, records.BrokerRegistrationChangeRecord)
    assert world.tick("sessions").records == ()


def test_stale_brokers_are_fenced_one_by_one():
    world = World().start(1, 2)
    world.now_ms += 9000
    timer = world.tick("sessions").timers[0]
    assert [one.fenced for one in world.image.brokers.values()] == [True, False]
    assert timer.due_ms == world.now_ms + 1
    world.tick("sessions", later_ms=1)
    assert [one.fenced for one in world.image.brokers.values()] == [True, True]


def test_a_heartbeat_of_another_life_is_stale():
    world = World().start(1)
    for answer in (world.beat(1, broker_epoch=1), world.beat(7)):
        assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_broker_that_leads_stops_in_two_steps():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    first = world.beat(1, want_shut_down=True)
    assert not first.should_shut_down
    assert world.image.brokers[1].in_controlled_shutdown
    assert world.partition("t").leader == 2
    assert not world.beat(1, want_shut_down=True).should_shut_down, "2 does not know yet"
    world.beat(2)
    last = world.beat(1, want_shut_down=True)
    assert (last.should_shut_down, last.is_fenced) == (True, True)
    assert world.image.brokers[1].fenced


def test_a_broker_that_leads_nothing_stops_at_once():
    world = World().start(1, 2)
    world.topic("t", [2, 1])
    answer = world.beat(1, want_shut_down=True)
    assert answer.should_shut_down
    assert world.partition("t").isr == (2,)


def test_a_fenced_broker_that_wants_to_stop_may():
    world = World()
    world.register(1)
    assert world.beat(1, want_shut_down=True).should_shut_down
    assert world.beat(1, want_fence=True, want_shut_down=True).should_shut_down


def test_a_broker_may_ask_to_be_fenced():
    world = World().start(1)
    assert world.beat(1, want_fence=True).is_fenced
    assert world.image.brokers[1].fenced


def test_a_new_controller_lets_a_controlled_shutdown_end():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    world.beat(1, want_shut_down=True)
    world.controller = world.again()
    world.controller.activate(now_ms=world.now_ms, next_offset=len(world.log))
    world.beat(2)
    assert world.beat(1, want_shut_down=True).should_shut_down


def test_who_comes_back_without_proof_of_a_clean_stop_is_eligible_no_more():
    world = World().start(1, 2)
    world.topic("t", [1, 2], min_insync_replicas="2")
    world.lose(1)
    assert world.partition("t").elr == (1,)
    decision = world.do(world.registration(1, previous_epoch=-1))
    assert kinds(decision) == ["PartitionChange", "RegisterBroker"]
    assert world.partition("t").elr == ()
    assert world.image.brokers[1].broker_epoch == len(world.log) - 1


def test_who_proves_a_clean_stop_stays_eligible():
    world = World().start(1, 2)
    world.topic("t", [1, 2], min_insync_replicas="2")
    epoch = world.image.brokers[1].broker_epoch
    world.lose(1)
    decision = world.do(world.registration(1, previous_epoch=epoch))
    assert kinds(decision) == ["RegisterBroker"]
    assert world.partition("t").elr == (1,)


def test_a_broker_that_returns_leads_where_nobody_did():
    world = World().start(1)
    world.topic("t", [1])
    epoch = world.image.brokers[1].broker_epoch
    world.lose(1)
    assert (world.partition("t").leader, world.partition("t").elr) == (-1, (1,))
    world.start(1, previous_epoch=epoch)
    after = world.partition("t")
    assert (after.leader, after.isr, after.elr, after.leader_epoch) == (1, (1,), (), 2)
    assert after.leader_recovery_state == 0


def test_an_unregistered_broker_is_gone_from_leads_and_in_sync_sets():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    decision = world.do(UnregisterBrokerRequest(broker_id=1))
    assert kinds(decision) == ["PartitionChange", "UnregisterBroker"]
    assert 1 not in world.image.brokers
    assert world.controller.sessions.get(1) is None
    again = world.do(UnregisterBrokerRequest(broker_id=1)).response
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_cordoned_directories_are_written_when_they_change():
    world = World()
    world.register(1)
    world.beat(1, want_fence=True, cordoned_log_dirs=[])
    assert (world.log[-1].version, world.log[-1].message.cordoned_log_dirs) == (3, [])
    written = len(world.log)
    world.beat(1, want_fence=True, cordoned_log_dirs=[])
    assert len(world.log) == written


def test_a_failed_directory_takes_its_replicas_out():
    world = World().start(2)
    world.start(1, log_dirs=[directory(1), directory(11)])
    world.topic("t", [1, 2])
    topic_id = world.image.topics["t"].topic_id
    from quire.protocol.messages import assign_replicas_to_dirs as assign

    world.do(
        assign.AssignReplicasToDirsRequest(
            broker_id=1,
            broker_epoch=world.image.brokers[1].broker_epoch,
            directories=[
                assign.AssignReplicasToDirsRequestDirectoryData(
                    id=directory(11),
                    topics=[
                        assign.AssignReplicasToDirsRequestTopicData(
                            topic_id=topic_id,
                            partitions=[
                                assign.AssignReplicasToDirsRequestPartitionData(partition_index=0)
                            ],
                        )
                    ],
                )
            ],
        )
    )
    assert world.partition("t").directories[0] == directory(11)
    world.beat(1, offline_log_dirs=[directory(11)])
    assert world.image.brokers[1].directories == (directory(1),)
    assert (world.partition("t").leader, world.partition("t").isr) == (2, (2,))


@pytest.mark.parametrize("level", [7, 16])
def test_older_levels_know_no_directories(level):
    world = World(activate=False)
    bootstrap = [records.FeatureLevelRecord(name="metadata.version", feature_level=level)]
    world.take(world.controller.activate(now_ms=0, next_offset=0, bootstrap=bootstrap))
    world.start(1, log_dirs=[])
    world.topic("t", [1])
    assert world.partition("t").directories == ()
    world.lose(1)
    after = world.partition("t")
    assert (after.leader, after.isr) == (-1, (1,)), "without ELR the last one in sync stays"
