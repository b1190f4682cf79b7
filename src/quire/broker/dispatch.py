"""Which handler answers which API, and which right it takes: two visible tables, one for each kind of listener.

A row's module stands in `broker/handlers` and has a function `handle(broker, call)`, plain or a coroutine function.
It is imported when the first request for it comes: a broker that starts needs a few of them.

Invariants
  I1  ApiVersions advertises exactly the rows of the listener's table (but for telemetry, which Kafka does not
      advertise either without a plugin for it), each with the versions of protocol.apis.
  I2  What has no row, or a version outside its range, is not served: its connection closes without an answer. The one
      exception is ApiVersions from the future, which is answered in version 0.
  I3  The rows of the controller's table are APIs of controller listeners, the others' of broker listeners.
Not here   what handlers do, the order of answers (connection), throttling (quotas).
See        KIP-590 (forwarding), KIP-714 (telemetry), KIP-896 (old versions).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from quire.protocol.apis import ApiKey


class Operation(IntEnum):
    """What access rules speak of; the numbers are the protocol's. 0 is ours: anybody may."""

    ANYBODY = 0
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class Resource(IntEnum):
    """What an operation is done to; the numbers are the protocol's."""

    NOTHING = 0
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    TOKEN = 6
    USER = 7


class Row(NamedTuple):
    """Who answers one API, and the right that it takes (on each resource that a request names)."""

    module: str
    operation: Operation
    resource: Resource


_ANYBODY: Final = Operation.ANYBODY, Resource.NOTHING
_CLUSTER_ACTION: Final = Operation.CLUSTER_ACTION, Resource.CLUSTER
_ALTER_CLUSTER: Final = Operation.ALTER, Resource.CLUSTER
_DESCRIBE_CLUSTER: Final = Operation.DESCRIBE, Resource.CLUSTER
_DESCRIBE_TOPIC: Final = Operation.DESCRIBE, Resource.TOPIC
_READ_GROUP: Final = Operation.READ, Resource.GROUP
_DESCRIBE_GROUP: Final = Operation.DESCRIBE, Resource.GROUP
_WRITE_TRANSACTION: Final = Operation.WRITE, Resource.TRANSACTIONAL_ID
_DESCRIBE_TRANSACTION: Final = Operation.DESCRIBE, Resource.TRANSACTIONAL_ID
_DESCRIBE_CONFIGS: Final = Operation.DESCRIBE_CONFIGS, Resource.CLUSTER
_ALTER_CONFIGS: Final = Operation.ALTER_CONFIGS, Resource.CLUSTER

# fmt: off
BROKER_TABLE: Final[dict[ApiKey, Row]] = {
    ApiKey.PRODUCE: Row("produce", Operation.WRITE, Resource.TOPIC),
    ApiKey.FETCH: Row("fetch", Operation.READ, Resource.TOPIC),
    ApiKey.LIST_OFFSETS: Row("list_offsets", *_DESCRIBE_TOPIC),
    ApiKey.METADATA: Row("metadata", *_DESCRIBE_TOPIC),
    ApiKey.OFFSET_COMMIT: Row("offset_commit", *_READ_GROUP),
    ApiKey.OFFSET_FETCH: Row("offset_fetch", *_DESCRIBE_GROUP),
    ApiKey.FIND_COORDINATOR: Row("find_coordinator", *_DESCRIBE_GROUP),
    ApiKey.JOIN_GROUP: Row("join_group", *_READ_GROUP),
    ApiKey.HEARTBEAT: Row("heartbeat", *_READ_GROUP),
    ApiKey.LEAVE_GROUP: Row("leave_group", *_READ_GROUP),
    ApiKey.SYNC_GROUP: Row("sync_group", *_READ_GROUP),
    ApiKey.DESCRIBE_GROUPS: Row("describe_groups", *_DESCRIBE_GROUP),
    ApiKey.LIST_GROUPS: Row("list_groups", *_DESCRIBE_GROUP),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Row("consumer_group_heartbeat", *_READ_GROUP),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Row("consumer_group_describe", *_DESCRIBE_GROUP),
    ApiKey.SASL_HANDSHAKE: Row("sasl_handshake", *_ANYBODY),
    ApiKey.API_VERSIONS: Row("api_versions", *_ANYBODY),
    ApiKey.CREATE_TOPICS: Row("create_topics", Operation.CREATE, Resource.CLUSTER),
    ApiKey.DELETE_TOPICS: Row("delete_topics", Operation.DELETE, Resource.TOPIC),
    ApiKey.DELETE_RECORDS: Row("delete_records", Operation.DELETE, Resource.TOPIC),
    ApiKey.INIT_PRODUCER_ID: Row("init_producer_id", Operation.IDEMPOTENT_WRITE, Resource.CLUSTER),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Row("offset_for_leader_epoch", *_DESCRIBE_TOPIC),
    ApiKey.ADD_PARTITIONS_TO_TXN: Row("add_partitions_to_txn", *_WRITE_TRANSACTION),
    ApiKey.ADD_OFFSETS_TO_TXN: Row("add_offsets_to_txn", *_WRITE_TRANSACTION),
    ApiKey.END_TXN: Row("end_txn", *_WRITE_TRANSACTION),
    ApiKey.WRITE_TXN_MARKERS: Row("write_txn_markers", *_CLUSTER_ACTION),
    ApiKey.TXN_OFFSET_COMMIT: Row("txn_offset_commit", *_READ_GROUP),
    ApiKey.DESCRIBE_ACLS: Row("describe_acls", *_DESCRIBE_CLUSTER),
    ApiKey.CREATE_ACLS: Row("create_acls", *_ALTER_CLUSTER),
    ApiKey.DELETE_ACLS: Row("delete_acls", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_CONFIGS: Row("describe_configs", *_DESCRIBE_CONFIGS),
    ApiKey.ALTER_CONFIGS: Row("alter_configs", *_ALTER_CONFIGS),
    ApiKey.ALTER_REPLICA_LOG_DIRS: Row("alter_replica_log_dirs", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_LOG_DIRS: Row("describe_log_dirs", *_DESCRIBE_CLUSTER),
    ApiKey.SASL_AUTHENTICATE: Row("sasl_authenticate", *_ANYBODY),
    ApiKey.CREATE_PARTITIONS: Row("create_partitions", Operation.ALTER, Resource.TOPIC),
    ApiKey.CREATE_DELEGATION_TOKEN: Row("create_delegation_token", *_ANYBODY),
    ApiKey.RENEW_DELEGATION_TOKEN: Row("renew_delegation_token", *_ANYBODY),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Row("expire_delegation_token", *_ANYBODY),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Row("describe_delegation_token", Operation.DESCRIBE, Resource.TOKEN),
    ApiKey.DELETE_GROUPS: Row("delete_groups", Operation.DELETE, Resource.GROUP),
    ApiKey.ELECT_LEADERS: Row("elect_leaders", *_ALTER_CLUSTER),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Row("incremental_alter_configs", *_ALTER_CONFIGS),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Row("alter_partition_reassignments", *_ALTER_CLUSTER),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Row("list_partition_reassignments", *_DESCRIBE_CLUSTER),
    ApiKey.OFFSET_DELETE: Row("offset_delete", Operation.DELETE, Resource.GROUP),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: Row("describe_client_quotas", *_DESCRIBE_CONFIGS),
    ApiKey.ALTER_CLIENT_QUOTAS: Row("alter_client_quotas", *_ALTER_CONFIGS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Row("describe_user_scram_credentials", *_DESCRIBE_CLUSTER),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Row("alter_user_scram_credentials", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_QUORUM: Row("describe_quorum", *_DESCRIBE_CLUSTER),
    ApiKey.UPDATE_FEATURES: Row("update_features", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_CLUSTER: Row("describe_cluster", *_DESCRIBE_CLUSTER),
    ApiKey.DESCRIBE_PRODUCERS: Row("describe_producers", Operation.READ, Resource.TOPIC),
    ApiKey.UNREGISTER_BROKER: Row("unregister_broker", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_TRANSACTIONS: Row("describe_transactions", *_DESCRIBE_TRANSACTION),
    ApiKey.LIST_TRANSACTIONS: Row("list_transactions", *_DESCRIBE_TRANSACTION),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: Row("get_telemetry_subscriptions", *_ANYBODY),
    ApiKey.PUSH_TELEMETRY: Row("push_telemetry", *_ANYBODY),
    ApiKey.LIST_CONFIG_RESOURCES: Row("list_config_resources", *_DESCRIBE_CONFIGS),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Row("describe_topic_partitions", *_DESCRIBE_TOPIC),
    ApiKey.ADD_RAFT_VOTER: Row("add_raft_voter", *_ALTER_CLUSTER),
    ApiKey.REMOVE_RAFT_VOTER: Row("remove_raft_voter", *_ALTER_CLUSTER),
}

CONTROLLER_TABLE: Final[dict[ApiKey, Row]] = {
    ApiKey.SASL_HANDSHAKE: Row("sasl_handshake", *_ANYBODY),
    ApiKey.API_VERSIONS: Row("api_versions", *_ANYBODY),
    ApiKey.CREATE_TOPICS: Row("create_topics", Operation.CREATE, Resource.CLUSTER),
    ApiKey.DELETE_TOPICS: Row("delete_topics", Operation.DELETE, Resource.TOPIC),
    ApiKey.DESCRIBE_ACLS: Row("describe_acls", *_DESCRIBE_CLUSTER),
    ApiKey.CREATE_ACLS: Row("create_acls", *_ALTER_CLUSTER),
    ApiKey.DELETE_ACLS: Row("delete_acls", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_CONFIGS: Row("describe_configs", *_DESCRIBE_CONFIGS),
    ApiKey.ALTER_CONFIGS: Row("alter_configs", *_ALTER_CONFIGS),
    ApiKey.SASL_AUTHENTICATE: Row("sasl_authenticate", *_ANYBODY),
    ApiKey.CREATE_PARTITIONS: Row("create_partitions", Operation.ALTER, Resource.TOPIC),
    ApiKey.CREATE_DELEGATION_TOKEN: Row("create_delegation_token", *_ANYBODY),
    ApiKey.RENEW_DELEGATION_TOKEN: Row("renew_delegation_token", *_ANYBODY),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Row("expire_delegation_token", *_ANYBODY),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Row("describe_delegation_token", Operation.DESCRIBE, Resource.TOKEN),
    ApiKey.ELECT_LEADERS: Row("elect_leaders", *_ALTER_CLUSTER),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Row("incremental_alter_configs", *_ALTER_CONFIGS),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Row("alter_partition_reassignments", *_ALTER_CLUSTER),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Row("list_partition_reassignments", *_DESCRIBE_CLUSTER),
    ApiKey.ALTER_CLIENT_QUOTAS: Row("alter_client_quotas", *_ALTER_CONFIGS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Row("describe_user_scram_credentials", *_DESCRIBE_CLUSTER),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Row("alter_user_scram_credentials", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_QUORUM: Row("describe_quorum", *_DESCRIBE_CLUSTER),
    ApiKey.ALTER_PARTITION: Row("alter_partition", *_CLUSTER_ACTION),
    ApiKey.UPDATE_FEATURES: Row("update_features", *_ALTER_CLUSTER),
    ApiKey.DESCRIBE_CLUSTER: Row("describe_cluster", *_DESCRIBE_CLUSTER),
    ApiKey.BROKER_REGISTRATION: Row("broker_registration", *_CLUSTER_ACTION),
    ApiKey.BROKER_HEARTBEAT: Row("broker_heartbeat", *_CLUSTER_ACTION),
    ApiKey.UNREGISTER_BROKER: Row("unregister_broker", *_ALTER_CLUSTER),
    ApiKey.ALLOCATE_PRODUCER_IDS: Row("allocate_producer_ids", *_CLUSTER_ACTION),
    ApiKey.CONTROLLER_REGISTRATION: Row("controller_registration", *_CLUSTER_ACTION),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: Row("assign_replicas_to_dirs", *_CLUSTER_ACTION),
    ApiKey.ADD_RAFT_VOTER: Row("add_raft_voter", *_ALTER_CLUSTER),
    ApiKey.REMOVE_RAFT_VOTER: Row("remove_raft_voter", *_ALTER_CLUSTER),
}
# fmt: on

NOT_ADVERTISED: Final = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})
