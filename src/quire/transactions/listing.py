"""Who is shown in a list of transactions: by state, by producer, by age, by pattern.

Patterns are those of RE2: no look-around and no back-references, which is refused, and a pattern must match the whole
id.

See        KIP-664, KIP-994 (age), KIP-1152 (patterns)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from quire.transactions.states import BY_NAME, State
from quire.transactions.transaction import Transaction

_NOT_RE2: Final = re.compile(r"\(\?(?:[=!>(]|<[=!]|P=)|\\[1-9]|\\g<|[*+?}]\+")
_ESCAPED_BACKSLASH: Final = re.compile(r"\\\\")
PATTERN_CHARACTERS_MAX: Final = 1024


class Filter(NamedTuple):
    """Whom to show; what is empty, or None, does not count."""

    states: frozenset[State] | None = None
    producer_ids: frozenset[int] = frozenset()
    older_than_ms: int = -1
    pattern: re.Pattern[str] | None = None

    def shows(self, transactional_id: str, one: Transaction, now_ms: int) -> bool:
        if self.producer_ids and one.producer_id not in self.producer_ids:
            return False
        if self.states is not None and one.state not in self.states:
            return False
        if self.older_than_ms >= 0 and now_ms - one.started_ms <= self.older_than_ms:
            return False
        return self.pattern is None or self.pattern.fullmatch(transactional_id) is not None


def states_named(names: Iterable[str]) -> tuple[frozenset[State] | None, list[str]]:
    """The states of a filter (None: any), and the names that are none."""
    wanted = list(names)
    known = frozenset(BY_NAME[name] for name in wanted if name in BY_NAME)
    return (known if wanted else None), [name for name in wanted if name not in BY_NAME]


def pattern_of(text: str) -> re.Pattern[str] | None:
    """The compiled pattern; None when it is none."""
    if len(text) > PATTERN_CHARACTERS_MAX or _NOT_RE2.search(_ESCAPED_BACKSLASH.sub("", text)):
        return None
    try:
        return re.compile(text)
    except re.error:
        return None
