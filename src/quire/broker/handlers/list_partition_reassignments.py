"""ListPartitionReassignments: the partitions that are on the move; the controller knows.

Its timeout says nothing: the answer is there at once.

Not here   what a move is (controller.reassignments).
See        KIP-455
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
