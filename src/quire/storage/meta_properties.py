"""meta.properties: which cluster, which node and which directory a log directory belongs to.

Invariants
  I1  All directories of a node agree on cluster and node; no two have the same directory id.
  I2  A directory id is never one of the first hundred uuids, which have meanings of their own.
See        docs/formats/log-directory.md, KIP-631, KIP-858
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from quire.config.java_properties import format_properties, parse_properties
from quire.errors import CorruptFileError, StorageError
from quire.ports.disk import Disk
from quire.ports.entropy import Entropy
from quire.storage.small_files import read_file, replace_file
from quire.types import uuid_from_text, uuid_to_text

FILE_NAME = "meta.properties"

_VERSION = "1"
_RESERVED = 100
_UUID_SIZE = 16


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """What one file says; None where a property is not there."""

    cluster_id: str | None
    node_id: int | None
    directory_id: bytes | None


class Identity(NamedTuple):
    """What all directories of a node agree on."""

    cluster_id: str
    node_id: int


def read_meta_properties(disk: Disk, directory: str) -> MetaProperties | None:
    """What the file says; None when the directory was not formatted."""
    path = f"{directory}/{FILE_NAME}"
    try:
        data = read_file(disk, path)
    except FileNotFoundError:
        return None
    try:
        properties = parse_properties(data)
        version = properties.get("version")
        if version == "0":
            raise StorageError(
                f"{path}: version 0 was written for ZooKeeper; only version 1 can be used"
            )
        if version != _VERSION:
            raise CorruptFileError(path, f"unknown version {version!r}")
        return MetaProperties(
            cluster_id=properties.get("cluster.id"),
            node_id=_node_id(properties.get("node.id")),
            directory_id=_directory_id(properties.get("directory.id")),
        )
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from None


def write_meta_properties(disk: Disk, directory: str, meta: MetaProperties) -> None:
    """Replace the file."""
    properties = {}
    if meta.node_id is not None:
        properties["node.id"] = str(meta.node_id)
    if meta.directory_id is not None:
        properties["directory.id"] = uuid_to_text(meta.directory_id)
    properties["version"] = _VERSION
    if meta.cluster_id is not None:
        properties["cluster.id"] = meta.cluster_id
    data = format_properties(properties, "written by Quire")
    replace_file(disk, f"{directory}/{FILE_NAME}", data)


def agree(
    found: Mapping[str, MetaProperties | None],
    *,
    node_id: int | None = None,
    cluster_id: str | None = None,
) -> Identity:
    """The identity that all directories share, and that is the one expected; else StorageError."""
    owners: dict[bytes, str] = {}
    for directory, meta in found.items():
        if meta is None:
            raise StorageError(f"{directory}: not formatted, there is no {FILE_NAME}")
        if meta.cluster_id is None or meta.node_id is None:
            missing = "cluster.id" if meta.cluster_id is None else "node.id"
            raise StorageError(f"{directory}/{FILE_NAME}: {missing} is missing")
        if cluster_id is not None and meta.cluster_id != cluster_id:
            raise StorageError(
                f"{directory} belongs to cluster {meta.cluster_id}, not to {cluster_id}"
            )
        if node_id is not None and meta.node_id != node_id:
            raise StorageError(f"{directory} belongs to node {meta.node_id}, not to {node_id}")
        cluster_id, node_id = meta.cluster_id, meta.node_id
        if meta.directory_id is not None:
            if meta.directory_id in owners:
                other = owners[meta.directory_id]
                text = uuid_to_text(meta.directory_id)
                raise StorageError(f"{directory} and {other} have the same directory.id {text}")
            owners[meta.directory_id] = directory
    if cluster_id is None or node_id is None:
        raise StorageError("there is no log directory to tell the cluster and the node")
    return Identity(cluster_id, node_id)


def new_uuid(entropy: Entropy) -> bytes:
    """A random (version 4) uuid whose text does not begin with `-`, which tools take for a flag."""
    while True:
        raw = bytearray(entropy.bytes(_UUID_SIZE))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        uuid = bytes(raw)
        if not uuid_to_text(uuid).startswith("-"):
            return uuid


def is_reserved(uuid: bytes) -> bool:
    """Whether this is one of the uuids that name no directory (unassigned, lost, migrating ...)."""
    return int.from_bytes(uuid, "big") < _RESERVED


def _node_id(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) < 2**31):
        raise ValueError(f"node.id {text!r} is not a node's number")
    return int(text)


def _directory_id(text: str | None) -> bytes | None:
    if text is None:
        return None
    uuid = uuid_from_text(text)
    if is_reserved(uuid):
        raise ValueError(f"directory.id {text} is reserved")
    return uuid
