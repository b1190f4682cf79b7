"""Which offsets have outlived their group, and which groups are nothing but a name.

    explicit time of expiry (older clients)     when it has come
    group with a protocol type, empty           offsets.retention.minutes after it became empty
    stable group of consumers                   topics that nobody reads any more: so long after the commit
    no protocol type (no group is used)         so long after the commit
    anything else                               never

Invariants
  I1  Nothing expires that a transaction may still change, or that a member reads.
  I2  A group is taken away when it is empty, has no offsets left, and no transaction may bring it any.
Not here   how often it is looked for (the coordinator).
See        KIP-211, KIP-229
"""

from __future__ import annotations

from quire.coordination import KeyValue
from quire.groups.keys import NEVER, OffsetKey, offset_key
from quire.groups.kinds import Group
from quire.groups.stored import Stored
from quire.groups.stored_values import Committed


def expire(
    stored: Stored, group: Group, now_ms: int, retention_ms: int
) -> tuple[list[KeyValue], bool]:
    """The tombstones of what has expired of a group, and whether the group itself may go."""
    records: list[KeyValue] = []
    is_bare = True
    for topic, partitions in stored.offsets.get(group.group_id, {}).items():
        if group.is_subscribed(topic):
            is_bare = False
            continue
        for partition, committed in partitions.items():
            key = OffsetKey(group.group_id, topic, partition)
            if stored.has_pending(key) or not _has_expired(group, committed, now_ms, retention_ms):
                is_bare = False
            else:
                records.append(KeyValue(offset_key(*key), None))
    return records, is_bare and group.is_empty and group.group_id not in stored.open  # I2


def _has_expired(group: Group, committed: Committed, now_ms: int, retention_ms: int) -> bool:
    since = group.expires_from(committed)
    if since is None:
        return False
    if committed.expire_timestamp != NEVER:
        return now_ms >= committed.expire_timestamp
    return now_ms - since >= retention_ms
