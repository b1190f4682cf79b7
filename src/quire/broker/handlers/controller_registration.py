"""ControllerRegistration: a controller's process tells where it listens and what it supports.

Not here   what is refused (controller.controllers).
See        KIP-919
"""

from __future__ import annotations

from quire.broker.forward import forward

handle = forward
