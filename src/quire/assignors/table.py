"""The assignors of consumer groups by the names that settings and members use.

See        KIP-848
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from quire.assignors import ranges, uniform
from quire.assignors.subscriptions import Assignment, Subscriber

Assignor = Callable[[Mapping[str, Subscriber], Mapping[bytes, int]], dict[str, Assignment]]

ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": uniform.assign, "range": ranges.assign}
