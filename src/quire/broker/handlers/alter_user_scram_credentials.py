"""AlterUserScramCredentials: what servers keep of passwords, put and deleted; decided by the controller.

Not here   what is refused (controller.scram), the exchange with a client (security).
See        KIP-554
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
