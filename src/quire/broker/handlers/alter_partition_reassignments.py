"""AlterPartitionReassignments: partitions move to other brokers, or stop moving; decided by the controller.

Versions   1 may forbid that the number of replicas changes

Not here   what a move is (controller.reassignments).
See        KIP-455, KIP-860
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
