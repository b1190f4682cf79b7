"""Real chance: the operating system's random numbers, fit for secrets and for ids."""

from __future__ import annotations

import secrets


class RealEntropy:
    """Draws that nobody can foresee or replay."""

    __slots__ = ()

    def below(self, limit: int) -> int:
        return secrets.randbelow(limit)

    def bytes(self, size: int) -> bytes:
        return secrets.token_bytes(size)
