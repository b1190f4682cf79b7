"""AlterClientQuotas: limits of clients, set and removed; decided by the controller.

Versions   1 flexible

Not here   which limits there can be (controller.quotas), keeping to them (broker.quotas).
See        KIP-546
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
