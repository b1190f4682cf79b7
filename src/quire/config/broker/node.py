"""What a node is, and what it does for everybody: roles, ids, liveness, topic creation."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    HIGH,
    LOW,
    MIB,
    MINUTE,
    OFF,
    ON,
    REQUIRED,
    SECOND,
    Settings,
    boolean,
    class_name,
    integer,
    long,
    string,
    string_list,
)
from quire.config.values import MAX_LONG


class NodeSection(Settings):
    """What a node is, and what it does for everybody: roles, ids, liveness, topic creation."""

    # fmt: off
    process_roles = string_list(REQUIRED, HIGH, one_of=("broker", "controller"),
        doc="What this node is: broker, controller, or both.")
    node_id = integer(REQUIRED, HIGH, at_least=0,
        doc="The number that names this node in the cluster.")
    broker_id = integer(-1, HIGH,
        doc="The older name of node.id; when both are set they must be equal.")
    broker_rack = string(None,
        doc="Where the broker stands; replicas are spread over racks.")
    controller_listener_names = string_list(REQUIRED, HIGH,
        doc="The listeners of controllers, by commas; brokers connect to the first.")
    broker_heartbeat_interval_ms = integer(2 * SECOND,
        doc="How often a broker tells the controller that it lives.")
    broker_session_timeout_ms = integer(9 * SECOND,
        doc="How long a broker lives on without a heartbeat before it is fenced.")
    initial_broker_registration_timeout_ms = integer(MINUTE,
        doc="How long a starting broker tries to register before it gives up.")
    controlled_shutdown_enable = boolean(ON,
        doc="Hand leaderships over before going down.")
    server_max_startup_time_ms = long(MAX_LONG, at_least=0, internal=True,
        doc="How long starting may take before the node gives up.")
    auto_create_topics_enable = boolean(ON, HIGH,
        doc="Create a topic that is asked for and is not there.")
    delete_topic_enable = boolean(ON, HIGH,
        doc="Let topics be deleted.")
    num_partitions = integer(1, at_least=1,
        doc="Partitions of a topic that is created without saying how many.")
    default_replication_factor = integer(1,
        doc="Replicas of a topic that is created without saying how many.")
    create_topic_policy_class_name = class_name(None, LOW,
        doc="The policy that is asked before a topic is created.")
    alter_config_policy_class_name = class_name(None, LOW,
        doc="The policy that is asked before a setting is altered.")
    config_providers = string_list((), LOW, CLUSTER, may_be_empty=True,
        doc="Names of the providers that resolve indirect values.")
    request_timeout_ms = integer(30 * SECOND, HIGH,
        doc="How long a request to another node waits for its answer.")
    background_threads = integer(10, HIGH, CLUSTER, at_least=1,
        doc="Threads for the odd jobs of a broker.")
    telemetry_max_bytes = integer(MIB, LOW, at_least=1,
        doc="The largest push of client metrics that is taken.")
    max_incremental_fetch_session_cache_slots = integer(1_000, at_least=0,
        doc="How many incremental fetch sessions are remembered.")
    max_request_partition_size_limit = integer(2_000, at_least=1,
        doc="Partitions in one answer of DescribeTopicPartitions, at most.")
    unstable_api_versions_enable = boolean(OFF, HIGH, internal=True,
        doc="Serve API versions that are still being made.")
    unstable_feature_versions_enable = boolean(OFF, HIGH, internal=True,
        doc="Allow feature levels that are still being made.")
    fetch_purgatory_purge_interval_requests = integer(1_000,
        doc="Finished waiters before the fetch purgatory is swept.")
    producer_purgatory_purge_interval_requests = integer(1_000,
        doc="Finished waiters before the produce purgatory is swept.")
    delete_records_purgatory_purge_interval_requests = integer(1,
        doc="Finished waiters before the delete-records purgatory is swept.")
    # fmt: on
