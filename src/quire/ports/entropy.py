"""The door to chance: every random number comes through here, so that a seed replays it."""

from __future__ import annotations

from typing import Protocol


class Entropy(Protocol):
    """Uniform draws."""

    def below(self, limit: int) -> int:
        """A whole number in [0, limit)."""
        ...

    def bytes(self, size: int) -> bytes: ...
