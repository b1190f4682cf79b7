"""Chance that replays: every draw follows from a seed, and each use has its own stream.

A stream is named, so that one more draw in one place changes nothing in another.
"""

from __future__ import annotations

import hashlib
import random


class SeededEntropy:
    """Uniform draws that follow from a seed alone, whatever PYTHONHASHSEED says."""

    __slots__ = ("_random", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)  # noqa: S311 -- made to be foreseen

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def one_in(self, count: int) -> bool:
        """True once in `count` draws on average."""
        return self._random.randrange(count) == 0

    def stream(self, name: str) -> SeededEntropy:
        """An independent source that follows from this seed and `name`."""
        digest = hashlib.blake2b(f"{self.seed}/{name}".encode(), digest_size=8).digest()
        return SeededEntropy(int.from_bytes(digest, "big"))
