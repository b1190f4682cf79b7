r"""Subscriptions by pattern: which topics a pattern means, and which patterns there may be.

Kafka's brokers understand the syntax of RE2. Patterns are judged by what both that and ours understand: whatever RE2
has not (looking around, references to groups, possessive and atomic groups, conditions, comments) is refused, and so
is the little that ours has not (classes by Unicode script, \C, \Q..\E).

Invariants
  I1  A pattern means a topic when it matches the whole name.
  I2  What RE2 refuses is refused.
Not here   when patterns are looked at again (consumer_targets).
See        KIP-848
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_NOT_IN_RE2: Final = re.compile(
    r"""
    \\. (?<! \\[1-9kZNG] ) (?P<fine>)      # an escaped character that both know
    | \\ [1-9kZNG]                         # references, and anchors that only we have
    | \( \? (?! : | P< | < [^=!] | [imsU]*-?[imsU]*[:)] )   # groups that only we have
    | \( \? P? <  [=!]                     # looking behind
    | (?: [*+?] | \{ \d+ (?:,\d*)? \} ) \+  # possessive
    | \[ \^? \]? (?: \\. | \[:\^?\w+:\] | [^\]\\] )* \] (?P<class>)  # a class: nothing in it is special
    """,
    re.VERBOSE | re.DOTALL,
)
_POSIX: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7F", "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_REPEATED_MOST: Final = 1000
_REPEATED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,(\d*))?\}")


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern, or None when it is none (I2)."""
    for found in _NOT_IN_RE2.finditer(pattern):
        if found["fine"] is None and found["class"] is None:
            return None
    for least, most in _REPEATED.findall(pattern):
        if max(int(least), int(most or 0)) > _REPEATED_MOST:
            return None
    ours = re.sub(r"\[:(\w+):\]", lambda one: _POSIX.get(one[1], one[0]), pattern)
    ours = ours.replace(r"\z", r"\Z").replace("(?<", "(?P<")
    try:
        return re.compile(ours, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def matching(pattern: str, topics: Iterable[str]) -> tuple[str, ...]:
    """The topics that a pattern means, sorted (I1)."""
    found = compiled(pattern)
    if found is None:
        return ()
    return tuple(sorted(one for one in topics if found.fullmatch(one)))
