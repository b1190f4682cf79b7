"""Who votes, as a node finds it at its start: in the settings, in what formatting left, or in the log.

Invariants
  I1  A node takes part only as the voter that its directory says it is.
  I2  Where the quorum keeps its voters in the log, this one's entry there has its true addresses.
Not here   a quorum of several (refused), joining one (refused).
See        KIP-595, KIP-853
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import controller_listeners
from quire.config.values import ConfigError
from quire.errors import QuireError
from quire.node.listeners import Told
from quire.node.metadata_log import MetadataLog
from quire.node.quorum import own_voter
from quire.raft.snapshots import Controls
from quire.raft.voters import Voter, VoterSet
from quire.types import uuid_to_text


class VotersError(QuireError):
    """This node cannot take part in the quorum that its directory belongs to."""


class Voters(NamedTuple):
    """What a node begins with."""

    me: Voter
    all: VoterSet
    kraft_version: int
    listener: str
    are_news: bool
    """The log must be told: only formatting has said it, or our address is another one."""


def find_voters(
    settings: BrokerSettings,
    controls: Controls,
    log: MetadataLog,
    controllers: Sequence[Told],
    directory_id: bytes,
) -> Voters:
    """The voters of the log where it has them, else those of the settings."""
    kraft_version = controls.kraft_version or 0
    listener = controller_listeners(settings)[0]
    endpoints = [(one.name, one.host, one.port) for one in controllers]
    me = own_voter(settings.node_id, directory_id, endpoints, with_ids=kraft_version > 0)
    if kraft_version == 0:
        static = VoterSet.of_setting(settings.controller_quorum_voters, listener)
        if not len(static):
            raise ConfigError(
                f"{log.directory} names no voters and controller.quorum.voters is not set:"
                " format the directories as standalone, or name the voters",
                setting="controller.quorum.voters",
            )
        return Voters(me, static, 0, listener, are_news=False)
    known = controls.voters
    if known is None or not known.has(me.voter_id, directory_id):
        raise VotersError(
            f"node {me.voter_id} with directory {uuid_to_text(directory_id)} is not among the voters"
            f" that {log.directory} knows: {_names(known)}"
        )
    if len(known) > 1:
        raise VotersError(
            f"{log.directory} belongs to a quorum of several voters ({_names(known)}), but only one"
            " is served as yet"
        )
    voters = known.with_voter(me)
    return Voters(me, voters, kraft_version, listener, log.controls_in_log.voters != voters)


def _names(voters: VoterSet | None) -> str:
    if voters is None:
        return "none"
    return ", ".join(f"{one.voter_id} {uuid_to_text(one.directory_id)}" for one in voters)
