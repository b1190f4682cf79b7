"""What Quire can do and Apache Kafka cannot. All names begin with `quire.`; Kafka ignores them."""

from __future__ import annotations

from quire.config.setting import OFF, Settings, boolean


class OwnSection(Settings):
    """What Quire can do and Apache Kafka cannot."""

    # fmt: off
    quire_log_fsync_before_ack = boolean(
        OFF,
        internal=True,
        doc="Answer a produce request only once its records are flushed to the disk.",
    )
    # fmt: on
