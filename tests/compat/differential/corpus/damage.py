"""Good requests that were damaged on the way: cut short, lengthened, and with other bytes in them."""

from __future__ import annotations

import random
import struct
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tests.compat.differential.case import Case, Frames

from quire.protocol.apis import APIS, ApiKey
from quire.protocol.connection import ClientFraming
from quire.protocol.schema import declaration_of

CLIENT_ID = "differential"
HEADER_BYTES = 10 + len(CLIENT_ID)
READING = frozenset(
    {
        ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.DESCRIBE_DELEGATION_TOKEN, ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_QUORUM, ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_CONFIG_RESOURCES, ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)  # fmt: skip
"""Of these other bytes can do no harm: the others would ask for something else, and get it."""
MUTATIONS = 6


def damaged(cases: Iterable[Case], served: Collection[int]) -> list[Frames]:
    """For each version of each API that is served the first question of it, damaged in each way."""
    seen: dict[tuple[int, int], Any] = {}
    for one in cases:
        for version, request in one.questions():
            key = declaration_of(type(request)).key
            assert key is not None
            if key in served:
                seen.setdefault((key, version), request)
    return [
        frame
        for (key, version), request in sorted(seen.items(), key=lambda item: item[0])
        for frame in _damage(key, version, request)
    ]


def _damage(key: int, version: int, request: Any) -> Iterator[Frames]:
    _, pieces = ClientFraming(CLIENT_ID).encode_request(request, version)
    content = b"".join(pieces)[4:]
    called = f"{APIS[key].name} v{version}"
    body = len(content) - HEADER_BYTES
    for number, size in enumerate(sorted({HEADER_BYTES + body * part // 4 for part in range(4)})):
        if size < len(content):
            yield Frames(f"damage: {called} cut at {number}", _frame(content[:size]))
    yield Frames(f"damage: {called} without its last byte", _frame(content[:-1]))
    yield Frames(f"damage: {called} and three bytes", _frame(content + b"\1\2\3"))
    if key in READING:
        draw = random.Random(key * 100 + version)
        for number in range(MUTATIONS if body else 0):
            changed = bytearray(content)
            changed[draw.randrange(HEADER_BYTES, len(content))] ^= 1 << draw.randrange(8)
            yield Frames(f"damage: {called} with another bit {number}", _frame(bytes(changed)))


def _frame(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content
