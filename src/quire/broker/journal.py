"""Where a broker tells of transitions, one line each; the world has the true one.

Not here   where the lines go (runtime, sim).
"""

from __future__ import annotations

from typing import Protocol


class Journal(Protocol):
    """Takes lines."""

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        """`room` speaks of `subject` (a partition, a listener): what happened, and its figures."""
        ...


class Silence:
    """A journal that nobody reads."""

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        """Nothing is kept."""
