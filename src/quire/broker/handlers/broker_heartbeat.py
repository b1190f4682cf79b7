"""BrokerHeartbeat: a broker lives, says how far it has read, and what it wants (to be fenced, to stop).

Versions   1 directories that failed · 2 directories that are cordoned

Not here   what comes of it (controller.brokers).
See        KIP-631, KIP-858
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
