"""Formatting: what must stand in a node's directories before its first start, as Apache Kafka's storage tool leaves it.

    meta.properties                                  whose directory this is; written last: without it nothing counts
    bootstrap.checkpoint                             the levels that the first controller begins with
    __cluster_metadata-0/0000...-0000000000.checkpoint   the first voters, where the quorum keeps them in its log

Invariants
  I1  A directory is formatted whole or not at all: an interrupted formatting is simply done again.
  I2  Nothing is written before all that was asked for is known to be possible.
Not here   starting a node (boot), the command (tools).
See        docs/formats/log-directory.md, docs/formats/metadata-log.md, KIP-631, KIP-853
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import controller_listeners
from quire.config.layers import with_both_ids
from quire.config.values import ConfigError
from quire.errors import QuireError
from quire.metadata.features import (
    KRAFT_VERSION,
    METADATA_VERSION,
    METADATA_VERSIONS,
    NEWEST,
    SUPPORTED,
    default_levels,
    metadata_version_of,
    refusal,
)
from quire.metadata.records import encode_value, versioned
from quire.node.listeners import controller_endpoint
from quire.ports.disk import Bytes, Disk
from quire.ports.entropy import Entropy
from quire.protocol.messages.metadata_records import FeatureLevelRecord
from quire.raft.snapshots import BOOTSTRAP, NO_CONTROLS, Controls, build
from quire.raft.voters import KRAFT_VERSION_MAX, Voter, VoterEndpoint, VoterSet
from quire.storage.directory_names import METADATA_TOPIC
from quire.storage.meta_properties import (
    MetaProperties,
    new_uuid,
    read_meta_properties,
    write_meta_properties,
)
from quire.storage.small_files import make_directory, replace_file
from quire.types import uuid_from_text

BOOTSTRAP_FILE = "bootstrap.checkpoint"


class FormatError(QuireError):
    """The directories cannot be formatted so; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatting:
    """What is asked for. Of the three ways to the first voters a controller without static ones needs one."""

    cluster_id: str
    standalone: bool = False
    initial_controllers: Sequence[str] = ()
    """`id@host:port:directory` each; the same on all nodes."""
    no_initial_controllers: bool = False
    release_version: str | None = None
    features: Mapping[str, int] = field(default_factory=dict)
    ignore_formatted: bool = False


class Formatted(NamedTuple):
    """What became of one directory."""

    path: str
    is_new: bool


def format_directories(
    disk: Disk,
    static: Mapping[str, str],
    wanted: Formatting,
    *,
    entropy: Entropy,
    now_ms: int,
    host_name: str = "localhost",
) -> list[Formatted]:
    """Format every directory that a node with these settings uses. Blocks.

    `host_name` is what others are told of a controller that listens on all interfaces.
    """
    settings = BrokerSettings.of(with_both_ids(static))
    _check_cluster_id(wanted.cluster_id)
    levels = _levels(wanted, is_static=bool(settings.controller_quorum_voters))
    paths = directories_of(settings)
    fresh = _unformatted(disk, paths, wanted, settings.node_id)
    ids = {path: new_uuid(entropy) for path in fresh}
    own_id = ids.get(settings.metadata_log_directory)
    me = None if own_id is None else _own_voter(settings, own_id, host_name)
    controls = _first_voters(settings, wanted, me, levels)
    if controls.voters is not None and own_id is not None:
        ids[settings.metadata_log_directory] = _own(controls.voters, settings).directory_id
    messages = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in levels.items()
        if level and name != KRAFT_VERSION
    ]
    metadata_version = levels[METADATA_VERSION]
    values = [encode_value(versioned(message, metadata_version)) for message in messages]
    for path in fresh:
        make_directory(disk, path)
        bootstrap = build(values, epoch=0, last_contained_log_timestamp=0, now_ms=now_ms)
        _write(disk, f"{path}/{BOOTSTRAP_FILE}", bootstrap)
        if path == settings.metadata_log_directory and controls != NO_CONTROLS:
            parent = f"{path}/{METADATA_TOPIC}-0"
            make_directory(disk, parent)
            first = build(
                (), epoch=0, last_contained_log_timestamp=now_ms, now_ms=now_ms, controls=controls
            )
            _write(disk, f"{parent}/{BOOTSTRAP.file_name}", first)
        meta = MetaProperties(wanted.cluster_id, settings.node_id, ids[path])
        write_meta_properties(disk, path, meta)  # I1
    return [Formatted(path, path in ids) for path in paths]


def directories_of(settings: BrokerSettings) -> list[str]:
    """Every directory of a node: those of its logs, and that of the metadata log."""
    return list(dict.fromkeys([*settings.log_directories, settings.metadata_log_directory]))


def is_formatted(disk: Disk, settings: BrokerSettings) -> bool:
    """Whether any directory of the node has been formatted."""
    return any(read_meta_properties(disk, path) is not None for path in directories_of(settings))


def _check_cluster_id(text: str) -> None:
    try:
        uuid_from_text(text)
    except ValueError as error:
        raise FormatError(f"the cluster id cannot be: {error}") from None


def _unformatted(disk: Disk, paths: Iterable[str], wanted: Formatting, node_id: int) -> list[str]:
    fresh = []
    for path in paths:
        meta = read_meta_properties(disk, path)
        if meta is None:
            fresh.append(path)
        elif not wanted.ignore_formatted:
            raise FormatError(f"{path} is formatted already")
        elif (meta.cluster_id, meta.node_id) != (wanted.cluster_id, node_id):
            raise FormatError(f"{path} belongs to node {meta.node_id} of cluster {meta.cluster_id}")
    return fresh


def _levels(wanted: Formatting, *, is_static: bool) -> dict[str, int]:
    """The level of each feature, kraft.version among them, judged."""
    chosen = dict(wanted.features)
    metadata_version = chosen.pop(METADATA_VERSION, None)
    if wanted.release_version is not None:
        if metadata_version is not None:
            raise FormatError("give the release or metadata.version, not both")
        metadata_version = metadata_version_of(wanted.release_version)
        if metadata_version is None:
            known = ", ".join(METADATA_VERSIONS.values())
            raise FormatError(f"{wanted.release_version!r} is no release known here: {known}")
    unknown = [name for name in chosen if name not in SUPPORTED]
    if unknown:
        raise FormatError(f"{unknown[0]} is no feature; there are {', '.join(SUPPORTED)}")
    if metadata_version is None:
        metadata_version = NEWEST
    kraft_version = 0 if is_static else KRAFT_VERSION_MAX
    levels = {**default_levels(metadata_version), KRAFT_VERSION: kraft_version, **chosen}
    for name, level in levels.items():
        reason = refusal(name, level, levels)
        if reason is not None:
            raise FormatError(reason)
    return levels


def _first_voters(
    settings: BrokerSettings, wanted: Formatting, me: Voter | None, levels: Mapping[str, int]
) -> Controls:
    """What the metadata log begins with; `me` is None where its directory was formatted before."""
    ways = [wanted.standalone, bool(wanted.initial_controllers), wanted.no_initial_controllers]
    if sum(ways) > 1:
        raise FormatError("standalone, initial controllers and none of them exclude each other")
    if settings.controller_quorum_voters:
        if any(ways):
            raise ConfigError(
                "controller.quorum.voters names the voters, so nothing else may",
                setting="controller.quorum.voters",
            )
        return NO_CONTROLS
    if levels[KRAFT_VERSION] == 0:
        raise FormatError("kraft.version 0 needs controller.quorum.voters")
    if "controller" not in settings.process_roles:
        if wanted.standalone or wanted.initial_controllers:
            raise FormatError("process.roles has no controller, so there are no voters to name")
        return NO_CONTROLS
    if not any(ways):
        raise FormatError(
            "controller.quorum.voters is not set: say who votes first, by --standalone,"
            " --initial-controllers or --no-initial-controllers"
        )
    if wanted.no_initial_controllers or me is None:
        return NO_CONTROLS
    if wanted.standalone:
        voters = VoterSet([me])
    else:
        voters = _named_voters(settings, wanted.initial_controllers)
        _own(voters, settings)
    return Controls(levels[KRAFT_VERSION], voters)


def _own_voter(settings: BrokerSettings, directory_id: bytes, host_name: str) -> Voter | None:
    if "controller" not in settings.process_roles:
        return None
    endpoint = VoterEndpoint(*controller_endpoint(settings, host_name))
    return Voter(settings.node_id, directory_id, (endpoint,))


def _own(voters: VoterSet, settings: BrokerSettings) -> Voter:
    own = voters.get(settings.node_id)
    if own is None:
        raise FormatError(f"the initial controllers do not name node {settings.node_id}, this one")
    return own


def _named_voters(settings: BrokerSettings, items: Sequence[str]) -> VoterSet:
    listener = controller_listeners(settings)[0]
    voters = []
    for item in items:
        voter_id, at, place = item.partition("@")
        address, colon, directory = place.rpartition(":")
        host, second_colon, port = address.rpartition(":")
        if not (at and colon and second_colon and voter_id.isdecimal() and port.isdecimal()):
            raise FormatError(f"{item!r} is not id@host:port:directory")
        try:
            directory_id = uuid_from_text(directory)
        except ValueError as error:
            raise FormatError(f"{item!r}: {error}") from None
        endpoint = VoterEndpoint(listener, host.strip("[]"), int(port))
        voters.append(Voter(int(voter_id), directory_id, (endpoint,)))
    return VoterSet(voters)


def _write(disk: Disk, path: str, batches: Iterable[Bytes]) -> None:
    replace_file(disk, path, b"".join(batches))
