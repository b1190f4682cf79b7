"""What a client may do with a resource, as bits: the answer to "include authorized operations".

Without an authorizer everybody may do all that there is.

See        KIP-430
"""

from __future__ import annotations

from typing import Final

from quire.broker.dispatch import Operation

UNSAID: Final = -(2**31)
"""Nobody asked."""


def bits(*operations: Operation) -> int:
    """One bit for each operation, at its number."""
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = bits(
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS: Final = bits(
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
