"""Access rules: added one by one, removed by filters.

Invariants
  I1  No two rules say the same.
Not here   what a rule allows (security).
See        KIP-290, KIP-801
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quire.controller.decision import Decision, Refusal, Turn
from quire.controller.topics import new_id
from quire.errors import ErrorCode
from quire.metadata.image import AccessRule
from quire.metadata.records import Message
from quire.protocol.messages import create_acls as creating
from quire.protocol.messages import delete_acls as deleting
from quire.protocol.messages.metadata_records import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)

UNKNOWN: Final = 0
ANY: Final = 1
PATTERN_MATCH: Final = 2
LITERAL: Final = 3
PREFIXED: Final = 4
WILDCARD: Final = "*"

_RESOURCE_TYPES: Final = range(2, 8)
"""Topic, group, cluster, transactional id, delegation token, user."""
_OPERATIONS: Final = range(2, 16)
_PERMISSIONS: Final = range(2, 4)
"""Deny, allow."""


def is_known_rule(asked: creating.AclCreation) -> bool:
    """Whether no number of a rule is the one that says "unknown"."""
    return UNKNOWN not in (
        asked.resource_type,
        asked.resource_pattern_type,
        asked.operation,
        asked.permission_type,
    )


def is_known_filter(one: deleting.DeleteAclsFilter) -> bool:
    """Whether no number of a filter is the one that says "unknown"."""
    return UNKNOWN not in (
        one.resource_type_filter,
        one.pattern_type_filter,
        one.operation,
        one.permission_type,
    )


def create(turn: Turn, request: creating.CreateAclsRequest) -> Decision:
    """Add rules; one that is there already is not added again."""
    known = set(turn.image.acls.values())
    messages: list[Message] = []
    results = []
    for asked in request.creations:
        refusal = _rule_error(asked)
        if refusal is None:
            rule = AccessRule(
                asked.resource_type,
                asked.resource_name,
                asked.resource_pattern_type,
                asked.principal,
                asked.host,
                asked.operation,
                asked.permission_type,
            )
            if rule not in known:
                known.add(rule)
                messages.append(AccessControlEntryRecord(id=new_id(turn.entropy), **rule._asdict()))
        results.append(
            creating.AclCreationResult(
                error_code=refusal.code if refusal else 0,
                error_message=refusal.message if refusal else None,
            )
        )
    response = creating.CreateAclsResponse(throttle_time_ms=0, results=results)
    return Decision(turn.records(messages), response)


def _rule_error(asked: creating.AclCreation) -> Refusal | None:
    if asked.resource_type not in _RESOURCE_TYPES:
        message = "Invalid resourceType"
    elif asked.resource_pattern_type not in (LITERAL, PREFIXED):
        message = "Invalid patternType"
    elif asked.operation not in _OPERATIONS:
        message = "Invalid operation"
    elif asked.permission_type not in _PERMISSIONS:
        message = "Invalid permissionType"
    elif not asked.resource_name:
        message = "Resource name should not be empty"
    elif ":" not in asked.principal:
        message = f"Could not parse principal from `{asked.principal}` (no colon is present)"
    else:
        return None
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def delete(turn: Turn, request: deleting.DeleteAclsRequest) -> Decision:
    """Remove the rules that any of the filters matches."""
    removed: dict[bytes, None] = {}
    results = []
    for one in request.filters:
        refusal = _filter_error(one)
        matching = [] if refusal else _matching(turn, one)
        removed |= dict.fromkeys(rule_id for rule_id, _ in matching)
        results.append(
            deleting.DeleteAclsFilterResult(
                error_code=refusal.code if refusal else 0,
                error_message=refusal.message if refusal else None,
                matching_acls=[
                    deleting.DeleteAclsMatchingAcl(
                        error_code=0, error_message=None, **rule._asdict()
                    )
                    for _, rule in matching
                ],
            )
        )
    response = deleting.DeleteAclsResponse(throttle_time_ms=0, filter_results=results)
    messages = [RemoveAccessControlEntryRecord(id=rule_id) for rule_id in removed]
    return Decision(turn.records(messages), response)


def _filter_error(one: deleting.DeleteAclsFilter) -> Refusal | None:
    numbers = {
        "resourceType": (one.resource_type_filter, (ANY, *_RESOURCE_TYPES)),
        "patternType": (one.pattern_type_filter, (ANY, PATTERN_MATCH, LITERAL, PREFIXED)),
        "operation": (one.operation, (ANY, *_OPERATIONS)),
        "permissionType": (one.permission_type, (ANY, *_PERMISSIONS)),
    }
    for what, (number, allowed) in numbers.items():
        if number not in allowed:
            return Refusal(ErrorCode.INVALID_REQUEST, f"Unknown {what} in the filter")
    return None


def _matching(turn: Turn, one: deleting.DeleteAclsFilter) -> list[tuple[bytes, AccessRule]]:
    matches = rule_filter(one)
    return [(rule_id, rule) for rule_id, rule in turn.image.acls.items() if matches(rule)]


def rule_filter(one: deleting.DeleteAclsFilter) -> Callable[[AccessRule], bool]:
    """Whether a rule is meant by a filter."""

    def matches(rule: AccessRule) -> bool:
        return (
            one.resource_type_filter in (ANY, rule.resource_type)
            and one.operation in (ANY, rule.operation)
            and one.permission_type in (ANY, rule.permission_type)
            and one.principal_filter in (None, rule.principal)
            and one.host_filter in (None, rule.host)
            and _names(one, rule)
        )

    return matches


def _names(one: deleting.DeleteAclsFilter, rule: AccessRule) -> bool:
    """MATCH means every rule that would apply to a resource of this name."""
    wanted, kind = one.resource_name_filter, one.pattern_type_filter
    if kind not in (ANY, PATTERN_MATCH, rule.pattern_type):
        return False
    if wanted is None:
        return True
    if kind != PATTERN_MATCH:
        return wanted == rule.resource_name
    if rule.pattern_type == PREFIXED:
        return wanted.startswith(rule.resource_name)
    return rule.resource_name in (wanted, WILDCARD)
