"""Clusters inside a Python program, for tests and notebooks: there in a fraction of a second, gone without a trace.

cluster   `Cluster`: the production node on a thread of its own
plugin    pytest's fixtures `quire_cluster` and `quire_topic`

Non-obvious
  - `Cluster` is loaded when it is first asked for: the plugin is imported by every run of pytest on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.testing.cluster import Cluster

__all__ = ["Cluster"]


def __getattr__(name: str) -> Any:
    if name == "Cluster":
        from quire.testing.cluster import Cluster  # noqa: PLC0415 -- see above

        return Cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
