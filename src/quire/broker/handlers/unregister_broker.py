"""UnregisterBroker: a broker that will not return is forgotten; decided by the controller.

Not here   what becomes of its partitions (controller.brokers).
See        KIP-631
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
