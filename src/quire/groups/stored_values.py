"""What the records of a partition say, as values: committed positions and classic groups.

Not here   their bytes (keys), the fold of them (stored).
"""

from __future__ import annotations

from typing import NamedTuple


class Committed(NamedTuple):
    """A position of a group in a partition."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    """-1 where its own retention was not said."""
    topic_id: bytes
    record_offset: int
    """Where in our log it stands: of two, the later one counts, whenever its transaction ends."""


class StoredMember(NamedTuple):
    """A member of a classic group, as the leader's assignment found it."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    """What it told of the chosen protocol."""
    assignment: bytes


class StoredGroup(NamedTuple):
    """A classic group when it was last written."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp: int
    members: tuple[StoredMember, ...]
