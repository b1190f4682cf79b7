from __future__ import annotations

from tests.broker.scene import BY_CONTROLLER, Scene, directory

from quire.errors import ErrorCode
from quire.protocol.messages import assign_replicas_to_dirs as assign


def test_a_broker_tells_where_a_replica_is() -> None:
    scene = Scene()
    topic_id = scene.topic("a")
    request = assign.AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=scene.broker.broker_epoch,
        directories=[
            assign.AssignReplicasToDirsRequestDirectoryData(
                id=directory(1),
                topics=[
                    assign.AssignReplicasToDirsRequestTopicData(
                        topic_id=topic_id,
                        partitions=[
                            assign.AssignReplicasToDirsRequestPartitionData(partition_index=0),
                            assign.AssignReplicasToDirsRequestPartitionData(partition_index=7),
                        ],
                    )
                ],
            )
        ],
    )
    (told,) = scene.ask(request, client=BY_CONTROLLER).directories
    assert [one.error_code for one in told.topics[0].partitions] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
