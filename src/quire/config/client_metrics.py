"""The settings of a subscription to client metrics (KIP-714)."""

from __future__ import annotations

from quire.config.setting import (
    MINUTE,
    Settings,
    integer,
    string_list,
)


class ClientMetricsSettings(Settings):
    """The settings of a subscription to client metrics (KIP-714)."""

    # fmt: off
    metrics = string_list((), may_be_empty=True,
        doc="Names of metrics that clients push, by prefix; * means all.")
    interval_ms = integer(5 * MINUTE,
        doc="How often clients push.")
    match = string_list((), may_be_empty=True,
        doc="Which clients push: selector=pattern pairs.")
    # fmt: on
