"""Every message by name and by key, imported when first asked for.

A broker that starts needs a few of them; importing all would cost it a tenth of a second.
Code that knows what it wants imports it by name: `from quire.protocol.messages.fetch import ...`.

Invariants
  I1  The tables name every declared message; a test walks the modules and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from quire.protocol.apis import API_NAMES

_OTHERS: Final[dict[str, tuple[str, ...]]] = {
    "consumer_groups": (
        "ConsumerGroupCurrentMemberAssignmentKey",
        "ConsumerGroupCurrentMemberAssignmentValue",
        "ConsumerGroupMemberMetadataKey",
        "ConsumerGroupMemberMetadataValue",
        "ConsumerGroupMetadataKey",
        "ConsumerGroupMetadataValue",
        "ConsumerGroupPartitionMetadataKey",
        "ConsumerGroupPartitionMetadataValue",
        "ConsumerGroupRegularExpressionKey",
        "ConsumerGroupRegularExpressionValue",
        "ConsumerGroupTargetAssignmentMemberKey",
        "ConsumerGroupTargetAssignmentMemberValue",
        "ConsumerGroupTargetAssignmentMetadataKey",
        "ConsumerGroupTargetAssignmentMetadataValue",
    ),
    "consumer_offsets": (
        "GroupMetadataKey",
        "GroupMetadataValue",
        "LegacyOffsetCommitKey",
        "LegacyOffsetCommitValue",
        "OffsetCommitKey",
        "OffsetCommitValue",
    ),
    "consumer_protocol": (
        "ConsumerProtocolAssignment",
        "ConsumerProtocolSubscription",
    ),
    "control_records": (
        "ControlRecordTypeSchema",
        "EndTxnMarker",
        "KRaftVersionRecord",
        "LeaderChangeMessage",
        "SnapshotFooterRecord",
        "SnapshotHeaderRecord",
        "VotersRecord",
    ),
    "headers": (
        "RequestHeader",
        "ResponseHeader",
    ),
    "metadata_records": (
        "AbortTransactionRecord",
        "AccessControlEntryRecord",
        "BeginTransactionRecord",
        "BrokerRegistrationChangeRecord",
        "ClearElrRecord",
        "ClientQuotaRecord",
        "ConfigRecord",
        "DelegationTokenRecord",
        "EndTransactionRecord",
        "FeatureLevelRecord",
        "FenceBrokerRecord",
        "NoOpRecord",
        "PartitionChangeRecord",
        "PartitionRecord",
        "ProducerIdsRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "RemoveAccessControlEntryRecord",
        "RemoveDelegationTokenRecord",
        "RemoveTopicRecord",
        "RemoveUserScramCredentialRecord",
        "TopicRecord",
        "UnfenceBrokerRecord",
        "UnregisterBrokerRecord",
        "UserScramCredentialRecord",
        "ZkMigrationStateRecord",
    ),
    "principal": ("DefaultPrincipalData",),
    "producer_snapshot": ("ProducerSnapshot",),
    "quorum_state": ("QuorumStateData",),
    "share_groups": (
        "ShareGroupCurrentMemberAssignmentKey",
        "ShareGroupCurrentMemberAssignmentValue",
        "ShareGroupMemberMetadataKey",
        "ShareGroupMemberMetadataValue",
        "ShareGroupMetadataKey",
        "ShareGroupMetadataValue",
        "ShareGroupStatePartitionMetadataKey",
        "ShareGroupStatePartitionMetadataValue",
        "ShareGroupTargetAssignmentMemberKey",
        "ShareGroupTargetAssignmentMemberValue",
        "ShareGroupTargetAssignmentMetadataKey",
        "ShareGroupTargetAssignmentMetadataValue",
    ),
    "share_state": (
        "ShareSnapshotKey",
        "ShareSnapshotValue",
        "ShareUpdateKey",
        "ShareUpdateValue",
    ),
    "streams_groups": (
        "StreamsGroupCurrentMemberAssignmentKey",
        "StreamsGroupCurrentMemberAssignmentValue",
        "StreamsGroupMemberMetadataKey",
        "StreamsGroupMemberMetadataValue",
        "StreamsGroupMetadataKey",
        "StreamsGroupMetadataValue",
        "StreamsGroupTargetAssignmentMemberKey",
        "StreamsGroupTargetAssignmentMemberValue",
        "StreamsGroupTargetAssignmentMetadataKey",
        "StreamsGroupTargetAssignmentMetadataValue",
        "StreamsGroupTopologyKey",
        "StreamsGroupTopologyValue",
    ),
    "tiered_storage": (
        "RemoteLogSegmentMetadataRecord",
        "RemoteLogSegmentMetadataSnapshotRecord",
        "RemoteLogSegmentMetadataUpdateRecord",
        "RemotePartitionDeleteMetadataRecord",
    ),
    "transaction_state": (
        "TransactionLogKey",
        "TransactionLogValue",
    ),
}
"""Messages that are not a request or a response: module -> classes."""


def _module_of_api(name: str) -> str:
    """`FetchSnapshot` -> `fetch_snapshot`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


def _where() -> dict[str, str]:
    where = {name: module for module, names in _OTHERS.items() for name in names}
    for api in API_NAMES.values():
        where[f"{api}Request"] = where[f"{api}Response"] = _module_of_api(api)
    return where


class _Messages(Mapping[str, type[Any]]):
    """Message classes by name; a module is imported when one of its names is looked up."""

    def __init__(self) -> None:
        self._where = _where()

    def __getitem__(self, name: str) -> type[Any]:
        module = import_module(f"{__name__}.{self._where[name]}")
        found: type[Any] = getattr(module, name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


class _Requests(Mapping[int, tuple[type[Any], type[Any]]]):
    """The request and response class of each API key."""

    def __getitem__(self, key: int) -> tuple[type[Any], type[Any]]:
        name = API_NAMES[key]
        return MESSAGES[f"{name}Request"], MESSAGES[f"{name}Response"]

    def __iter__(self) -> Iterator[int]:
        return iter(API_NAMES)

    def __len__(self) -> int:
        return len(API_NAMES)


MESSAGES: Final[Mapping[str, type[Any]]] = _Messages()
REQUESTS: Final[Mapping[int, tuple[type[Any], type[Any]]]] = _Requests()

METADATA_RECORDS: Final[dict[int, str]] = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    2: "TopicRecord",
    3: "PartitionRecord",
    4: "ConfigRecord",
    5: "PartitionChangeRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    9: "RemoveTopicRecord",
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    12: "FeatureLevelRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    17: "BrokerRegistrationChangeRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    20: "NoOpRecord",
    21: "ZkMigrationStateRecord",
    22: "RemoveUserScramCredentialRecord",
    23: "BeginTransactionRecord",
    24: "EndTransactionRecord",
    25: "AbortTransactionRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
}
"""The record of each type number in the metadata log."""

GROUP_RECORDS: Final[dict[int, tuple[str, str]]] = {
    0: ("LegacyOffsetCommitKey", "LegacyOffsetCommitValue"),
    1: ("OffsetCommitKey", "OffsetCommitValue"),
    2: ("GroupMetadataKey", "GroupMetadataValue"),
    3: ("ConsumerGroupMetadataKey", "ConsumerGroupMetadataValue"),
    4: ("ConsumerGroupPartitionMetadataKey", "ConsumerGroupPartitionMetadataValue"),
    5: ("ConsumerGroupMemberMetadataKey", "ConsumerGroupMemberMetadataValue"),
    6: ("ConsumerGroupTargetAssignmentMetadataKey", "ConsumerGroupTargetAssignmentMetadataValue"),
    7: ("ConsumerGroupTargetAssignmentMemberKey", "ConsumerGroupTargetAssignmentMemberValue"),
    8: ("ConsumerGroupCurrentMemberAssignmentKey", "ConsumerGroupCurrentMemberAssignmentValue"),
    10: ("ShareGroupMemberMetadataKey", "ShareGroupMemberMetadataValue"),
    11: ("ShareGroupMetadataKey", "ShareGroupMetadataValue"),
    12: ("ShareGroupTargetAssignmentMetadataKey", "ShareGroupTargetAssignmentMetadataValue"),
    13: ("ShareGroupTargetAssignmentMemberKey", "ShareGroupTargetAssignmentMemberValue"),
    14: ("ShareGroupCurrentMemberAssignmentKey", "ShareGroupCurrentMemberAssignmentValue"),
    15: ("ShareGroupStatePartitionMetadataKey", "ShareGroupStatePartitionMetadataValue"),
    16: ("ConsumerGroupRegularExpressionKey", "ConsumerGroupRegularExpressionValue"),
    17: ("StreamsGroupMetadataKey", "StreamsGroupMetadataValue"),
    19: ("StreamsGroupMemberMetadataKey", "StreamsGroupMemberMetadataValue"),
    20: ("StreamsGroupTargetAssignmentMetadataKey", "StreamsGroupTargetAssignmentMetadataValue"),
    21: ("StreamsGroupTargetAssignmentMemberKey", "StreamsGroupTargetAssignmentMemberValue"),
    22: ("StreamsGroupCurrentMemberAssignmentKey", "StreamsGroupCurrentMemberAssignmentValue"),
    23: ("StreamsGroupTopologyKey", "StreamsGroupTopologyValue"),
}
"""The key and value of each record type in `__consumer_offsets`; its key starts with the type."""

TRANSACTION_RECORDS: Final[dict[int, tuple[str, str]]] = {
    0: ("TransactionLogKey", "TransactionLogValue"),
}
"""The key and value of each record type in `__transaction_state`; its key starts with the type."""

SHARE_RECORDS: Final[dict[int, tuple[str, str]]] = {
    0: ("ShareSnapshotKey", "ShareSnapshotValue"),
    1: ("ShareUpdateKey", "ShareUpdateValue"),
}
"""The key and value of each record type in `__share_group_state`; its key starts with the type."""
