"""Names of partition directories: `orders-0`, and what becomes of it when it is on its way.

`orders-0.<32 hex>-delete` waits to be removed, `-future` is a copy on its way from another log
directory, `-stray` belongs to no partition that the metadata knows. Names are cut to 255 characters
at the end of the topic, so that the file system takes them.

See        docs/formats/log-directory.md, KIP-113
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from quire.types import TopicPartition

METADATA_TOPIC = "__cluster_metadata"
"""Its directory belongs to the quorum, not to the partitions."""

_NAME_LENGTH_MAX = 255
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}", re.ASCII)
_DIRECTORY = re.compile(
    r"(?P<topic>.+)-(?P<partition>[0-9]{1,10})"
    r"(?:\.(?P<unique>[0-9a-f]{32})-(?P<stage>delete|future|stray))?",
    re.ASCII,
)
_PARTITION_MAX = 2**31 - 1


class Stage(Enum):
    """What a partition directory is there for; the value is its suffix."""

    LIVE = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


class DirectoryName(NamedTuple):
    """A name taken apart. The topic may be cut short in every stage but the live one."""

    topic_partition: TopicPartition
    stage: Stage


def is_topic_name(name: str) -> bool:
    """Whether a topic may have this name."""
    return name not in {".", ".."} and _TOPIC.fullmatch(name) is not None


def parse_directory_name(name: str) -> DirectoryName | None:
    """What the directory is there for; None when its name is none of a partition's."""
    match = _DIRECTORY.fullmatch(name)
    if match is None or not is_topic_name(match["topic"]):
        return None
    partition = int(match["partition"])
    if partition > _PARTITION_MAX or str(partition) != match["partition"]:
        return None
    return DirectoryName(TopicPartition(match["topic"], partition), Stage(match["stage"] or ""))


def staged_name(topic_partition: TopicPartition, stage: Stage, unique: bytes) -> str:
    """The directory's name on its way; `unique` is sixteen random bytes."""
    if stage is Stage.LIVE:
        raise ValueError("a live directory has its partition's name")
    suffix = f"-{topic_partition.partition}.{unique.hex()}-{stage.value}"
    return topic_partition.topic[: _NAME_LENGTH_MAX - len(suffix)] + suffix
