"""What a broker tells the controller of its partitions: in-sync sets that changed, and which directory holds what.

Invariants
  I1  A change of an in-sync set is asked for once at a time; its leader learns the answer, or that there was none.
  I2  What could not be told is tried again at the next look, as long as it still holds.
  I3  An answer is for the leader that asked: in another epoch it means nothing.
Not here   who is in sync (replication.leader), what the controller makes of it (controller.partitions).
See        KIP-497, KIP-858, KIP-903
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.replica import Replica
from quire.errors import ErrorCode
from quire.protocol.messages import alter_partition as isr
from quire.protocol.messages import assign_replicas_to_dirs as places
from quire.replication.leader import AlterPartition

ALTER_VERSION: Final = 3
ASSIGN_VERSION: Final = 0
AT_ONCE: Final = 2_000
"""Replicas in one request, at most."""


class Reports:
    """See the module. `look` is to be called from time to time, one call after the other."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def look(self) -> None:
        """Tell what there is to tell."""
        replicas = self._broker.replicas
        if replicas.isr_changes:
            changes = dict(replicas.isr_changes)
            replicas.isr_changes.clear()
            await self._tell_isr(changes)
        if replicas.unreported:
            await self._tell_directories()

    async def _tell_isr(self, changes: dict[Replica, AlterPartition]) -> None:
        broker = self._broker
        request = isr.AlterPartitionRequest(
            broker_id=broker.node_id,
            broker_epoch=broker.broker_epoch,
            topics=[
                isr.AlterPartitionRequestTopicData(
                    topic_id=replica.topic_id,
                    partitions=[
                        isr.AlterPartitionRequestPartitionData(
                            partition_index=replica.topic_partition.partition,
                            leader_epoch=change.leader_epoch,
                            new_isr_with_epochs=[
                                isr.BrokerState(broker_id=one, broker_epoch=epoch)
                                for one, epoch in change.isr
                            ],
                            partition_epoch=change.partition_epoch,
                        )
                    ],
                )
                for replica, change in changes.items()
            ],
        )
        try:
            answer = await broker.controller.ask(request, version=ALTER_VERSION)
        except ControllerUnavailableError:
            self._all_refused(changes, ErrorCode.NOT_CONTROLLER)
            return
        if answer.error_code != ErrorCode.NONE:
            self._all_refused(changes, ErrorCode.of(answer.error_code))
            return
        found = {
            (topic.topic_id, one.partition_index): one
            for topic in answer.topics
            for one in topic.partitions
        }
        for replica, change in changes.items():
            one = found.get((replica.topic_id, replica.topic_partition.partition))
            code = ErrorCode.UNKNOWN_SERVER_ERROR if one is None else ErrorCode.of(one.error_code)
            if one is None or code is not ErrorCode.NONE:
                self._all_refused({replica: change}, code)
            else:
                self._altered(replica, one)

    def _altered(self, replica: Replica, one: isr.AlterPartitionResponsePartitionData) -> None:
        broker, leader = self._broker, replica.leader
        if leader is None or leader.leader_epoch != one.leader_epoch:
            return  # I3
        grew = len(one.isr) > len(leader.isr)
        broker.metrics.isr_expands += grew
        broker.metrics.isr_shrinks += not grew
        now_ms = broker.clock.monotonic_ms()
        broker.replicas.advance(replica, leader.on_altered(one.isr, one.partition_epoch, now_ms))

    def _all_refused(self, changes: dict[Replica, AlterPartition], code: ErrorCode) -> None:
        broker = self._broker
        for replica, change in changes.items():
            broker.metrics.failed_isr_updates += 1
            leader = replica.leader
            if leader is not None and leader.leader_epoch == change.leader_epoch:  # I3
                now_ms = broker.clock.monotonic_ms()
                broker.replicas.advance(replica, leader.on_alter_refused(code, now_ms))

    async def _tell_directories(self) -> None:
        broker = self._broker
        by_directory: dict[bytes, dict[bytes, list[int]]] = {}
        for (topic_id, partition), directory in list(broker.replicas.unreported.items())[:AT_ONCE]:
            by_directory.setdefault(directory, {}).setdefault(topic_id, []).append(partition)
        request = places.AssignReplicasToDirsRequest(
            broker_id=broker.node_id,
            broker_epoch=broker.broker_epoch,
            directories=[
                places.AssignReplicasToDirsRequestDirectoryData(
                    id=directory,
                    topics=[
                        places.AssignReplicasToDirsRequestTopicData(
                            topic_id=topic_id,
                            partitions=[
                                places.AssignReplicasToDirsRequestPartitionData(partition_index=one)
                                for one in partitions
                            ],
                        )
                        for topic_id, partitions in topics.items()
                    ],
                )
                for directory, topics in by_directory.items()
            ],
        )
        try:
            answer = await broker.controller.ask(request, version=ASSIGN_VERSION)
        except ControllerUnavailableError:
            return  # I2
        for directory in answer.directories:
            for topic in directory.topics:
                for one in topic.partitions:
                    key = (topic.topic_id, one.partition_index)
                    told = one.error_code == ErrorCode.NONE
                    if told and broker.replicas.unreported.get(key) == directory.id:
                        del broker.replicas.unreported[key]
