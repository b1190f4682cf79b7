"""Voter sets: who takes part in the quorum, and what a majority of them is.

With kraft.version 1 the set stands in the log as a control record, and a voter is an id and a directory; with
kraft.version 0 it comes from controller.quorum.voters, and directories are not known (all zeros).

Invariants
  I1  Ids are unique in a set; voters are in the order of their ids.
  I2  Any two majorities of one set share a voter.
Not here   when a set takes effect (machine, node.metadata_log).
See        KIP-595, KIP-853
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Self

from quire.errors import QuireError
from quire.protocol.messages import control_records as control
from quire.protocol.schema import ZERO_UUID

KRAFT_VERSION_MAX: Final = 1


class VotersError(QuireError):
    """A set of voters that cannot be."""


class VoterEndpoint(NamedTuple):
    """Where a voter listens, by the name of its controller listener."""

    name: str
    host: str
    port: int


class Voter(NamedTuple):
    """One voter. `directory_id` is zero where the quorum does not know directories."""

    voter_id: int
    directory_id: bytes = ZERO_UUID
    endpoints: tuple[VoterEndpoint, ...] = ()
    lowest_kraft_version: int = 0
    highest_kraft_version: int = KRAFT_VERSION_MAX

    def is_key(self, voter_id: int, directory_id: bytes) -> bool:
        """Whether somebody with this id and directory is this voter."""
        known = ZERO_UUID not in (self.directory_id, directory_id)
        return self.voter_id == voter_id and (not known or self.directory_id == directory_id)


class VoterSet:
    """An immutable set of voters."""

    __slots__ = ("_by_id",)

    def __init__(self, voters: Iterable[Voter] = ()) -> None:
        self._by_id: dict[int, Voter] = {}
        for voter in sorted(voters, key=lambda one: one.voter_id):
            if voter.voter_id in self._by_id:
                raise VotersError(f"voter {voter.voter_id} is named twice")
            self._by_id[voter.voter_id] = voter

    def __iter__(self) -> Iterator[Voter]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._by_id == other._by_id

    def __hash__(self) -> int:
        return hash(tuple(self._by_id.values()))

    def __repr__(self) -> str:
        return f"VoterSet({sorted(self._by_id)})"

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._by_id)

    @property
    def majority(self) -> int:
        """How many voters decide."""
        return len(self._by_id) // 2 + 1

    def get(self, voter_id: int) -> Voter | None:
        return self._by_id.get(voter_id)

    def has(self, voter_id: int, directory_id: bytes) -> bool:
        """Whether this id and directory may vote."""
        voter = self._by_id.get(voter_id)
        return voter is not None and voter.is_key(voter_id, directory_id)

    def decides(self, voter_ids: Iterable[int]) -> bool:
        """Whether these voters are a majority."""
        return len({one for one in voter_ids if one in self._by_id}) >= self.majority

    def majority_offset(self, end_offsets: Mapping[int, int]) -> int:
        """The largest offset that a majority has reached; voters that are not named have nothing."""
        reached = sorted((end_offsets.get(one, 0) for one in self._by_id), reverse=True)
        return reached[self.majority - 1] if reached else 0

    def with_voter(self, voter: Voter) -> VoterSet:
        """The set with this voter in the place of the one that has its id."""
        return VoterSet([*(one for one in self if one.voter_id != voter.voter_id), voter])

    @classmethod
    def of_record(cls, record: control.VotersRecord) -> Self:
        """The set that a control record names."""
        return cls(
            Voter(
                one.voter_id,
                one.voter_directory_id,
                tuple(VoterEndpoint(each.name, each.host, each.port) for each in one.endpoints),
                one.k_raft_version_feature.min_supported_version,
                one.k_raft_version_feature.max_supported_version,
            )
            for one in record.voters
        )

    def record(self) -> control.VotersRecord:
        """The control record that names this set."""
        return control.VotersRecord(
            version=0,
            voters=[
                control.VotersRecordVoter(
                    voter_id=one.voter_id,
                    voter_directory_id=one.directory_id,
                    endpoints=[
                        control.Endpoint(name=each.name, host=each.host, port=each.port)
                        for each in one.endpoints
                    ],
                    k_raft_version_feature=control.KRaftVersionFeature(
                        min_supported_version=one.lowest_kraft_version,
                        max_supported_version=one.highest_kraft_version,
                    ),
                )
                for one in self
            ],
        )

    @classmethod
    def of_setting(cls, items: Iterable[str], listener: str) -> Self:
        """The set in controller.quorum.voters: `id@host:port` each."""
        voters = []
        for item in items:
            voter_id, at, rest = item.partition("@")
            host, colon, port = rest.rpartition(":")
            if not (at and colon and voter_id.isdecimal() and port.isdecimal()):
                raise VotersError(f"controller.quorum.voters has {item!r}, not id@host:port")
            endpoint = VoterEndpoint(listener, host.strip("[]"), int(port))
            voters.append(Voter(int(voter_id), endpoints=(endpoint,)))
        return cls(voters)
