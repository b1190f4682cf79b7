"""How much work compaction may do, and when."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    DAY,
    KIB,
    MEDIUM,
    MIB,
    ON,
    SECOND,
    Settings,
    boolean,
    double,
    integer,
    long,
)
from quire.config.values import MAX_DOUBLE, MAX_LONG


class CleanerSection(Settings):
    """How much work compaction may do, and when."""

    # fmt: off
    log_cleaner_enable = boolean(ON,
        doc="Compact the logs that ask for it.")
    log_cleaner_threads = integer(1, MEDIUM, CLUSTER, at_least=0,
        doc="Cleanings that may run at the same time.")
    log_cleaner_backoff_ms = long(15 * SECOND, MEDIUM, CLUSTER, at_least=0,
        doc="How long the cleaner sleeps when nothing is dirty.")
    log_cleaner_dedupe_buffer_size = long(128 * MIB, MEDIUM, CLUSTER,
        doc="Memory of the offset maps of all cleanings together.")
    log_cleaner_io_buffer_size = integer(512 * KIB, MEDIUM, CLUSTER, at_least=0,
        doc="Memory of the read and write buffers of all cleanings together.")
    log_cleaner_io_buffer_load_factor = double(0.9, MEDIUM, CLUSTER,
        doc="How full an offset map may become.")
    log_cleaner_io_max_bytes_per_second = double(MAX_DOUBLE, MEDIUM, CLUSTER,
        doc="Bytes that the cleaner may read and write per second.")
    log_cleaner_min_cleanable_ratio = double(0.5, MEDIUM, CLUSTER, at_least=0, at_most=1,
        doc="The part of a log that must be dirty before it is cleaned.")
    log_cleaner_min_compaction_lag_ms = long(0, MEDIUM, CLUSTER, at_least=0,
        doc="How long a record stays uncompacted at least.")
    log_cleaner_max_compaction_lag_ms = long(MAX_LONG, MEDIUM, CLUSTER, at_least=1,
        doc="How long a record stays uncompacted at most.")
    log_cleaner_delete_retention_ms = long(DAY, MEDIUM, CLUSTER, at_least=0,
        doc="How long tombstones and markers stay in a compacted log.")
    # fmt: on
