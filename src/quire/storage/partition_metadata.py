"""partition.metadata: the id of the topic that a partition directory belongs to.

Without it Apache Kafka renames the directory to `-stray` and starts an empty replica in its place.

See        docs/formats/log-directory.md, KIP-516
"""

from __future__ import annotations

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.storage.small_files import read_text, replace_file
from quire.types import UUID_SIZE, uuid_from_text, uuid_to_text

FILE_NAME = "partition.metadata"

_VERSION = "0"


def read_topic_id(disk: Disk, directory: str) -> bytes | None:
    """The topic's id (16 bytes); None when the file is not there, CorruptFileError when broken."""
    path = f"{directory}/{FILE_NAME}"
    try:
        text = read_text(disk, path)
    except FileNotFoundError:
        return None
    fields: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, separator, value = line.partition(": ")
        if not separator or name in fields:
            raise CorruptFileError(path, f"line {number}: {line!r} is not a field of its own")
        fields[name] = value
    if fields.get("version") != _VERSION:
        raise CorruptFileError(path, f"unknown version {fields.get('version')!r}")
    if fields.keys() != {"version", "topic_id"}:
        raise CorruptFileError(path, f"its fields are {sorted(fields)}")
    try:
        topic_id = uuid_from_text(fields["topic_id"])
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from None
    if not any(topic_id):
        raise CorruptFileError(path, "the topic id is zero")
    return topic_id


def write_topic_id(
    disk: Disk, directory: str, topic_id: bytes, *, flush_directory: bool = True
) -> None:
    """Make the file; Kafka's bytes, without a line feed at the end."""
    if len(topic_id) != UUID_SIZE or not any(topic_id):
        raise ValueError(f"not a topic id: {topic_id.hex()!r}")
    text = f"version: {_VERSION}\ntopic_id: {uuid_to_text(topic_id)}"
    replace_file(disk, f"{directory}/{FILE_NAME}", text.encode(), flush_directory=flush_directory)
