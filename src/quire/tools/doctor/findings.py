"""What a check comes to: fine, worth knowing, or wrong; and what to do about it.

Invariants
  I1  Whatever is wrong names the setting, the address or the directory at fault, and what would mend it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple


class Level(Enum):
    """How bad it is."""

    FINE = "fine"
    WARNING = "warning"
    WRONG = "wrong"


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: Level
    subject: str
    text: str
    remedy: str = ""


def fine(subject: str, text: str) -> Finding:
    return Finding(Level.FINE, subject, text)


def warning(subject: str, text: str, remedy: str) -> Finding:
    return Finding(Level.WARNING, subject, text, remedy)


def wrong(subject: str, text: str, remedy: str) -> Finding:
    return Finding(Level.WRONG, subject, text, remedy)


def is_well(findings: Iterable[Finding]) -> bool:
    """Whether nothing is wrong; warnings do not count."""
    return all(one.level is not Level.WRONG for one in findings)
