"""BrokerRegistration: a broker's process starts, and asks to be part of the cluster.

Versions   1 says that it does not migrate · 2 log directories · 3 the epoch of its registration before this one
Not here   who may register, and what then is of the process before (controller.brokers).
See        KIP-631, KIP-858, KIP-966
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
