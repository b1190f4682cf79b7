"""ElectLeaders: the preferred leaders back, or any leader at all; decided by the controller.

Versions   0 preferred leaders only · 1 says which election; a code for the whole answer

Not here   who may lead (controller.partitions).
See        KIP-183, KIP-460
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
