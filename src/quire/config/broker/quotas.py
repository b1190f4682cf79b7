"""Throttles of replication, and how quotas and metrics are measured."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    LOW,
    MEDIUM,
    SECOND,
    Settings,
    class_name,
    integer,
    long,
    string,
    string_list,
)
from quire.config.values import MAX_LONG

DYNAMIC_ONLY = frozenset(
    {
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Known as dynamic settings alone: they have no default to show, and a file cannot set them."""


class QuotasSection(Settings):
    """Throttles of replication, and how quotas and metrics are measured."""

    # fmt: off
    leader_replication_throttled_rate = long(MAX_LONG, MEDIUM, CLUSTER, at_least=0, internal=True,
        doc="Bytes per second that a leader sends to throttled replicas.")
    follower_replication_throttled_rate = long(
        MAX_LONG, MEDIUM, CLUSTER, at_least=0, internal=True,
        doc="Bytes per second that a follower fetches for throttled replicas.")
    replica_alter_log_dirs_io_max_bytes_per_second = long(
        MAX_LONG, MEDIUM, CLUSTER, at_least=0, internal=True,
        doc="Bytes per second for moving replicas between directories.")
    quota_window_num = integer(11, LOW, at_least=1,
        doc="Samples that client quotas are measured over.")
    quota_window_size_seconds = integer(1, LOW, at_least=1,
        doc="Length of a sample of client quotas.")
    controller_quota_window_num = integer(11, LOW, at_least=1,
        doc="Samples that controller mutation quotas are measured over.")
    controller_quota_window_size_seconds = integer(1, LOW, at_least=1,
        doc="Length of a sample of controller mutation quotas.")
    replication_quota_window_num = integer(11, LOW, at_least=1,
        doc="Samples that replication quotas are measured over.")
    replication_quota_window_size_seconds = integer(1, LOW, at_least=1,
        doc="Length of a sample of replication quotas.")
    alter_log_dirs_replication_quota_window_num = integer(11, LOW, at_least=1,
        doc="Samples that moves between directories are measured over.")
    alter_log_dirs_replication_quota_window_size_seconds = integer(1, LOW, at_least=1,
        doc="Length of a sample of moves between directories.")
    client_quota_callback_class = class_name(None, LOW,
        doc="What decides the quotas of clients in place of the stored ones.")
    metric_reporters = string_list(
        ("org.apache.kafka.common.metrics.JmxReporter",), LOW, CLUSTER, may_be_empty=True,
        doc="What reports metrics besides the broker's own endpoints.")
    metrics_num_samples = integer(2, LOW, at_least=1,
        doc="Samples that a metric is computed from.")
    metrics_sample_window_ms = long(30 * SECOND, LOW, at_least=1,
        doc="Length of a sample of a metric.")
    metrics_recording_level = string("INFO", LOW,
        doc="How detailed the recorded metrics are: INFO, DEBUG or TRACE.")
    kafka_metrics_reporters = string_list((), LOW, may_be_empty=True,
        doc="What reports the older kind of metrics.")
    kafka_metrics_polling_interval_secs = integer(10, LOW, at_least=1,
        doc="How often the older kind of reporters look.")
    # fmt: on
