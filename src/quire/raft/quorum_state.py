"""The quorum-state file: the epoch, whom we voted for in it, and who leads it.

One line of JSON, as Apache Kafka writes it. Version 0 belongs to kraft.version 0 and names the voters; version 1
belongs to kraft.version 1 and names the directory that was voted for.

Invariants
  I1  What was encoded decodes to an equal state.
  I2  Whatever bytes come in, `decode` gives a state or raises QuorumStateError.
Not here   when it is written (machine says so, node.quorum does it).
See        docs/formats/metadata-log.md, KIP-595, KIP-853
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from quire.errors import QuireError
from quire.protocol.schema import ZERO_UUID
from quire.types import uuid_from_text, uuid_to_text

FILE_NAME: Final = "quorum-state"
NOBODY: Final = -1


class QuorumStateError(QuireError):
    """The file cannot be understood; the epoch must be taken from the log."""


class QuorumState(NamedTuple):
    """What must survive a crash so that nobody votes twice in one epoch."""

    epoch: int = 0
    leader_id: int = NOBODY
    voted_id: int = NOBODY
    voted_directory_id: bytes = ZERO_UUID


def encode(state: QuorumState, *, kraft_version: int, voter_ids: Iterable[int] = ()) -> bytes:
    """The file's content; the voters are named only at kraft.version 0."""
    fields: dict[str, Any]
    if kraft_version == 0:
        fields = {
            "clusterId": "",
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": one} for one in voter_ids],
            "data_version": 0,
        }
    else:
        fields = {
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_id,
            "votedDirectoryId": uuid_to_text(state.voted_directory_id),
            "data_version": 1,
        }
    return json.dumps(fields, separators=(",", ":")).encode()


def decode(content: bytes) -> QuorumState:
    """The state in a file of either version."""
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as failure:
        raise QuorumStateError(f"{FILE_NAME} is not JSON: {failure}") from None
    if not isinstance(fields, dict):
        raise QuorumStateError(f"{FILE_NAME} is not a JSON object")
    if fields.get("data_version") not in (0, 1):
        raise QuorumStateError(f"{FILE_NAME} has data_version {fields.get('data_version')!r}")
    directory = fields.get("votedDirectoryId")
    try:
        voted_directory_id = uuid_from_text(directory) if isinstance(directory, str) else ZERO_UUID
    except ValueError as failure:
        raise QuorumStateError(f"{FILE_NAME}: votedDirectoryId: {failure}") from None
    return QuorumState(
        epoch=_number(fields, "leaderEpoch", at_least=0),
        leader_id=_number(fields, "leaderId", at_least=NOBODY),
        voted_id=_number(fields, "votedId", at_least=NOBODY),
        voted_directory_id=voted_directory_id,
    )


def _number(fields: dict[str, Any], name: str, *, at_least: int) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not at_least <= value < 2**31:
        raise QuorumStateError(f"{FILE_NAME}: {name} is {value!r}")
    return value
