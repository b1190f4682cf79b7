"""The settings of a group; a broker setting stands in for what a group does not say."""

from __future__ import annotations

from quire.config.allowed import OFFSET_RESET
from quire.config.setting import (
    ON,
    SECOND,
    Settings,
    Synonym,
    boolean,
    integer,
    string,
)


class GroupSettings(Settings):
    """The settings of a group; a broker setting stands in for what a group does not say."""

    # fmt: off
    consumer_session_timeout_ms = integer(
        45 * SECOND, at_least=1, synonyms=(Synonym("group.consumer.session.timeout.ms"),),
        doc="How long a consumer lives in the group without a heartbeat.")
    consumer_heartbeat_interval_ms = integer(
        5 * SECOND, at_least=1, synonyms=(Synonym("group.consumer.heartbeat.interval.ms"),),
        doc="How often a consumer sends a heartbeat.")
    consumer_assignment_interval_ms = integer(
        SECOND, at_least=0, synonyms=(Synonym("group.consumer.assignment.interval.ms"),),
        doc="The least time between two assignments of the consumer group.")
    share_session_timeout_ms = integer(
        45 * SECOND, at_least=1, synonyms=(Synonym("group.share.session.timeout.ms"),),
        doc="How long a share member lives without a heartbeat.")
    share_heartbeat_interval_ms = integer(
        5 * SECOND, at_least=1, synonyms=(Synonym("group.share.heartbeat.interval.ms"),),
        doc="How often a share member sends a heartbeat.")
    share_record_lock_duration_ms = integer(
        30 * SECOND, at_least=SECOND, synonyms=(Synonym("group.share.record.lock.duration.ms"),),
        doc="How long a record is lent to a share member.")
    share_delivery_count_limit = integer(
        5, at_least=2, synonyms=(Synonym("group.share.delivery.count.limit"),),
        doc="How often a record is delivered before it is given up.")
    share_partition_max_record_locks = integer(
        2_000, at_least=100, synonyms=(Synonym("group.share.partition.max.record.locks"),),
        doc="Records of one partition that may be lent at the same time.")
    share_auto_offset_reset = string("latest", form=OFFSET_RESET,
        doc="Where a share group begins: latest, earliest, or by_duration:PT1H and the like.")
    share_isolation_level = string(
        "read_uncommitted", one_of=("read_committed", "read_uncommitted"),
        doc="Whether a share group sees records of open and aborted transactions.")
    share_renew_acknowledge_enable = boolean(ON,
        doc="Let members renew their hold on a record.")
    share_assignment_interval_ms = integer(
        SECOND, at_least=0, synonyms=(Synonym("group.share.assignment.interval.ms"),),
        doc="The least time between two assignments of the share group.")
    streams_session_timeout_ms = integer(
        45 * SECOND, at_least=1, synonyms=(Synonym("group.streams.session.timeout.ms"),),
        doc="How long a streams member lives without a heartbeat.")
    streams_heartbeat_interval_ms = integer(
        5 * SECOND, at_least=1, synonyms=(Synonym("group.streams.heartbeat.interval.ms"),),
        doc="How often a streams member sends a heartbeat.")
    streams_num_standby_replicas = integer(
        0, at_least=0, synonyms=(Synonym("group.streams.num.standby.replicas"),),
        doc="Standby copies of each stateful task.")
    streams_initial_rebalance_delay_ms = integer(
        3 * SECOND, at_least=0, synonyms=(Synonym("group.streams.initial.rebalance.delay.ms"),),
        doc="How long the first assignment waits for more members.")
    streams_assignment_interval_ms = integer(
        SECOND, at_least=0, synonyms=(Synonym("group.streams.assignment.interval.ms"),),
        doc="The least time between two assignments of the streams group.")
    # fmt: on
