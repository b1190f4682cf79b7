"""AlterPartition: leaders propose who is in sync.

Versions   2 topics by id · 3 in-sync replicas come with the epochs of their brokers

Not here   which proposals are taken (controller.partitions).
See        KIP-497, KIP-841, KIP-903
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
