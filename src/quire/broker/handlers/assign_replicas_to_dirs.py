"""AssignReplicasToDirs: a broker tells which of its directories holds which replica.

Not here   what follows (controller.partitions).
See        KIP-858
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
