"""DescribeGroups, ListGroups and DeleteGroups: groups as administrators see them.

Versions   DescribeGroups: 6 GROUP_ID_NOT_FOUND (before: a group that is dead) · ListGroups: 4 by state · 5 by kind
Not here   offsets (offsets), what other kinds of groups tell in requests of their own.
See        KIP-88, KIP-229, KIP-518, KIP-848, KIP-1043
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.foreign import ForeignGroup
from quire.groups.kinds import Group
from quire.groups.states import DEAD, STABLE
from quire.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from quire.protocol.messages.list_groups import ListedGroup

NOT_FOUND_SINCE: Final = 6


class DescribeGroup(NamedTuple):
    """What is a group like?"""

    group_id: str


class ListGroups(NamedTuple):
    """Which groups are there? Filters are in lower case; an empty one lets everything through."""

    states: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()


class DeleteGroups(NamedTuple):
    """Take groups away, all of one partition."""

    group_ids: tuple[str, ...]


def describe(group_id: str, group: Group | None, version: int) -> DescribedGroup:
    """A classic group in detail; any other is as good as none."""
    if not isinstance(group, ClassicGroup):
        reason = f"Group {group_id} not found."
        if group is not None:
            reason = f"Group {group_id} is not a classic group."
        return _undescribed(group_id, reason if version >= NOT_FOUND_SINCE else None)
    is_stable = group.state is STABLE
    protocol = group.protocol if is_stable else None
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=one.member_id,
                group_instance_id=one.instance_id,
                client_id=one.client_id,
                client_host=one.client_host,
                member_metadata=one.metadata(protocol),
                member_assignment=one.assignment,
            )
            for one in group.members.values()
        ],
    )


def _undescribed(group_id: str, reason: str | None) -> DescribedGroup:
    return DescribedGroup(
        error_code=ErrorCode.NONE if reason is None else ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=reason,
        group_id=group_id,
        group_state=DEAD.value,
        protocol_type="",
        protocol_data="",
        members=[],
    )


def listed(groups: Sequence[Group], asked: ListGroups) -> list[ListedGroup]:
    """Those that pass the filters."""
    found = []
    for group in groups:
        if isinstance(group, ClassicGroup):
            state, protocol_type = group.state.value, group.protocol_type or ""
        else:
            assert isinstance(group, ConsumerGroup | ForeignGroup)
            state, protocol_type = group.state_text, group.protocol_type
        kind = group.group_type.value
        if asked.states and state.lower() not in asked.states:
            continue
        if asked.types and kind not in asked.types:
            continue
        found.append(
            ListedGroup(
                group_id=group.group_id,
                protocol_type=protocol_type,
                group_state=state,
                group_type=kind,
            )
        )
    return found
