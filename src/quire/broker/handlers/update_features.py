"""UpdateFeatures: finalized levels, raised and lowered, all of a request or none; decided by the controller.

Its timeout says nothing: the answer comes when it is decided.

Versions   0 may allow a downgrade · 1 says what kind of change, may only validate · 2 one answer for all features

Not here   which levels can be (controller.features).
See        KIP-584, KIP-778, KIP-1022
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
