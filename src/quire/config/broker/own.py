"""What Quire can do and Apache Kafka cannot. All names begin with `quire.`; Kafka ignores them."""

from __future__ import annotations

from quire.config.allowed import HOST_AND_PORT
from quire.config.setting import OFF, Settings, boolean, string


class OwnSection(Settings):
    """What Quire can do and Apache Kafka cannot."""

    # fmt: off
    quire_log_fsync_before_ack = boolean(
        OFF,
        internal=True,
        doc="Answer a produce request only once its records are flushed to the disk.",
    )
    quire_http_listener = string("",
        form=HOST_AND_PORT,
        internal=True,
        doc="Where figures for Prometheus (/metrics) and the state of the node (/health) are given by HTTP, as"
        " HOST:PORT; port 0 is any that is free. Nowhere if empty.")
    # fmt: on
