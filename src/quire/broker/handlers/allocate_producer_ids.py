"""AllocateProducerIds: a broker takes a block of producer ids.

Not here   how large it is, and that it is never given again (controller.producer_ids).
See        KIP-730
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
