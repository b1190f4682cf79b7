"""A member of a group, as its clients speak: it enters, beats, commits and leaves, and notes what it was told.

`Membership` is what a workload asks of a member; `ClassicMembership` is one that joins and syncs. A member of another
kind of group is another class of this shape.

Not here   when a member does what (groups), what must hold of it (sim.ownership).
See        KIP-345 (static members), KIP-394 (the member id comes first), KIP-814 (a leader that need not assign)
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, Protocol

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import leave_group as leaving
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import sync_group as syncing
from quire.protocol.messages.heartbeat import HeartbeatRequest
from quire.sim.entropy import SeededEntropy
from quire.sim.history import Place
from quire.sim.ownership import Accepted, Assigned, Found, Gone, Ownership, Span
from quire.sim.workloads.work import PASSING_CODES, PAUSE_SECONDS, Line, World

BY_NAME = 9
"""The last version of OffsetCommit and OffsetFetch that names topics."""
PROTOCOL_TYPE = "sim"
PROTOCOL = "any"
SLACK_SECONDS = 3.0
_OUT = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
_AGAIN = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)


class GroupTerms(NamedTuple):
    """On which terms a consumer is a member."""

    group: str
    session_ms: int
    rebalance_ms: int
    instance_id: str | None = None


class Membership(Protocol):
    """What a consumer asks of its membership."""

    member_id: str
    generation: int
    places: tuple[Place, ...]
    is_in: bool
    """It has a share; false sends it to `enter`."""
    is_over: bool
    """It was ended; it never enters again."""
    is_settled: bool
    """It has a share, and was believed when it last asked."""
    last_asked: float

    async def enter(self) -> bool:
        """Return with a share; False when this membership is over."""

    async def beat(self) -> bool:
        """Say that it is alive; whether it was believed."""

    async def commit(self) -> None:
        """Commit higher offsets of some of its partitions."""

    async def leave(self) -> None:
        """End the membership."""


class ClassicMembership:
    """See the module."""

    def __init__(
        self,
        name: str,
        terms: GroupTerms,
        history: Ownership,
        world: World,
        entropy: SeededEntropy,
    ) -> None:
        self._name = name
        self._terms = terms
        self._history = history
        self._world = world
        self._entropy = entropy
        self._line = Line(world, name, terms.group, 0)
        self._positions: dict[Place, int] = {}
        self.member_id = ""
        self.generation = -1
        self.places: tuple[Place, ...] = ()
        self.is_in = self.is_over = self.is_settled = False
        self.last_asked = world.now()

    # --- entering -----------------------------------------------------------------------------

    async def enter(self) -> bool:
        while not self.is_over:
            self.is_settled = False
            join_asked = self._world.now()
            joined = await self._join()
            if joined is None:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            places = await self._sync(joined)
            if places is None:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            former, positions = self.generation, self._positions
            self.generation, self.places = joined.generation_id, places
            self._history.assigned.append(
                Assigned(self.generation, self._owner, places, join_asked, self._world.now())
            )
            self._world.say(
                self._name,
                "owns",
                generation=self.generation,
                id=self.member_id,
                places=" ".join(map(str, places)),
            )
            if 0 <= former < self.generation and self._entropy.one_in(3):
                await self._speak_late(former, positions)
            if await self._fetch_positions():
                self.is_in = True
                return True
        return False

    async def _speak_late(self, generation: int, positions: dict[Place, int]) -> None:
        """What it said in its last generation comes after all; it must not be believed."""
        late = {place: offset + 1 for place, offset in positions.items()}
        if late:
            await self._commit(late, generation)
        answer, span = await self._ask(self._heartbeat(generation))
        if answer is not None and answer.error_code == ErrorCode.NONE:
            self._history.accepted.append(Accepted(self.member_id, generation, span, {}))

    async def _join(self) -> joining.JoinGroupResponse | None:
        """The generation it is in; None to try again."""
        request = joining.JoinGroupRequest(
            group_id=self._terms.group,
            session_timeout_ms=self._terms.session_ms,
            rebalance_timeout_ms=self._terms.rebalance_ms,
            member_id=self.member_id,
            group_instance_id=self._terms.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[joining.JoinGroupRequestProtocol(name=PROTOCOL, metadata=b"")],
        )
        patience = (self._terms.rebalance_ms + self._terms.session_ms) / 1000 + SLACK_SECONDS
        answer, span = await self._ask(request, seconds=patience)
        if answer is None:
            return None
        code = ErrorCode.of(answer.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            return None
        if code is ErrorCode.NONE:
            self._is_called(answer.member_id, span)
            return answer  # type: ignore[no-any-return]
        self._is_believed(code, "joining")
        return None

    def _is_called(self, member_id: str, span: Span) -> None:
        """Joined under this id; whoever had the instance before is gone."""
        self.member_id = member_id
        instance_id = self._terms.instance_id
        if instance_id is not None:
            former = self._history.instances.get(instance_id, member_id)
            if former != member_id:
                self._history.gone.append(Gone(former, span.told, span.reign))
            self._history.instances[instance_id] = member_id

    async def _sync(self, joined: joining.JoinGroupResponse) -> tuple[Place, ...] | None:
        """Its share; None to join again."""
        assignments = []
        if joined.leader == self.member_id and not joined.skip_assignment:
            assignments = self._assign([one.member_id for one in joined.members])
        request = syncing.SyncGroupRequest(
            group_id=self._terms.group,
            generation_id=joined.generation_id,
            member_id=self.member_id,
            group_instance_id=self._terms.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL,
            assignments=assignments,
        )
        answer, _ = await self._ask(
            request, seconds=self._terms.rebalance_ms / 1000 + SLACK_SECONDS
        )
        if answer is None or not self._is_believed(ErrorCode.of(answer.error_code), "syncing"):
            return None
        return _places_in(answer.assignment)

    def _assign(self, members: list[str]) -> list[syncing.SyncGroupRequestAssignment]:
        """Share all partitions out, another way each time."""
        shares: dict[str, list[Place]] = {one: [] for one in members}
        for place in self._history.places:
            shares[members[self._entropy.below(len(members))]].append(place)
        return [
            syncing.SyncGroupRequestAssignment(member_id=one, assignment=_text_of(places))
            for one, places in shares.items()
        ]

    async def _fetch_positions(self) -> bool:
        """Where its partitions are to be gone on with; False when it is asked to join again first."""
        if not self.places:
            self._positions = {}
            return True
        while not self.is_over:
            found = await committed_offsets(self._world, self._line, self._terms.group, self.places)
            if found is not None:
                self._history.found.append(found)
                self._positions = {p: max(0, offset) for p, offset in found.offsets.items()}
                return True
            await asyncio.sleep(PAUSE_SECONDS)
        return False

    # --- being in -----------------------------------------------------------------------------

    def _heartbeat(self, generation: int) -> HeartbeatRequest:
        return HeartbeatRequest(
            group_id=self._terms.group,
            generation_id=generation,
            member_id=self.member_id,
            group_instance_id=self._terms.instance_id,
        )

    async def beat(self) -> bool:
        member_id = self.member_id
        answer, span = await self._ask(self._heartbeat(self.generation))
        if answer is None or not self._is_believed(ErrorCode.of(answer.error_code), "beating"):
            self.is_settled = False
            return False
        self._history.accepted.append(Accepted(member_id, self.generation, span, {}))
        self.is_settled = self.is_in
        return True

    async def commit(self) -> None:
        wanted: dict[Place, int] = {}
        for place in self.places:
            if place in self._positions and not self._entropy.one_in(4):
                self._positions[place] += 1 + self._entropy.below(5)
                wanted[place] = self._positions[place]
        if wanted:
            for code in await self._commit(wanted, self.generation):
                self._is_believed(code, "committing")

    async def _commit(self, wanted: dict[Place, int], generation: int) -> list[ErrorCode]:
        """What was said of it, for each partition; nothing when there was no answer."""
        for place, offset in wanted.items():
            self._history.tried.setdefault(place, {})[offset] = None
        member_id = self.member_id
        request = committing.OffsetCommitRequest(
            group_id=self._terms.group,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=self._terms.instance_id,
            topics=[
                committing.OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        committing.OffsetCommitRequestPartition(
                            partition_index=place.partition,
                            committed_offset=offset,
                            committed_metadata=self._name,
                        )
                        for place, offset in wanted.items()
                        if place.topic == topic
                    ],
                )
                for topic in dict.fromkeys(place.topic for place in wanted)
            ],
        )
        answer, span = await self._ask(request, version=BY_NAME)
        if answer is None:
            return []
        codes = {
            Place(topic.name, one.partition_index): ErrorCode.of(one.error_code)
            for topic in answer.topics
            for one in topic.partitions
        }
        taken = {place: wanted[place] for place, code in codes.items() if code is ErrorCode.NONE}
        if taken:
            self._history.accepted.append(Accepted(member_id, generation, span, taken))
        return list(codes.values())

    async def leave(self) -> None:
        identity = leaving.MemberIdentity(
            member_id=self.member_id, group_instance_id=self._terms.instance_id
        )
        request = leaving.LeaveGroupRequest(group_id=self._terms.group, members=[identity])
        answer, span = await self._ask(request)
        self.is_in, self.is_over, self.is_settled = False, True, False
        if answer is None or answer.error_code != ErrorCode.NONE:
            return
        if answer.members[0].error_code == ErrorCode.NONE:
            self._history.gone.append(Gone(self.member_id, span.told, span.reign))
            await self.commit()  # it must not be believed any more

    # --- asking -------------------------------------------------------------------------------

    @property
    def _owner(self) -> str:
        return self._terms.instance_id or self.member_id

    async def _ask(
        self, request: Any, *, version: int | None = None, seconds: float = SLACK_SECONDS
    ) -> tuple[Any, Span]:
        reign, asked = self._world.reign(), self._world.now()
        self.last_asked = asked
        answer = await self._line.ask(request, version=version, seconds=seconds)
        is_same = reign == self._world.reign()
        return answer, Span(asked, self._world.now(), reign if is_same else -1)

    def _is_believed(self, code: ErrorCode, what: str) -> bool:
        """Whether it was; what else it was told decides how it goes on."""
        if code is ErrorCode.NONE:
            return True
        self.is_settled = False
        if code in _OUT:
            self.is_in, self.member_id = False, ""
        elif code in _AGAIN:
            self.is_in = False
        elif not (code.retriable or code in PASSING_CODES):
            raise AnswerError(code, f"{what} as {self._name}")
        else:
            self._line.hang_up()
        return False


async def committed_offsets(
    world: World,
    line: Line,
    group: str,
    places: tuple[Place, ...],
    *,
    seconds: float = SLACK_SECONDS,
) -> Found | None:
    """What is committed, -1 where nothing is; None when nobody could tell."""
    topics = [
        fetching.OffsetFetchRequestTopics(
            name=topic, partition_indexes=[one.partition for one in places if one.topic == topic]
        )
        for topic in dict.fromkeys(one.topic for one in places)
    ]
    request = fetching.OffsetFetchRequest(
        groups=[fetching.OffsetFetchRequestGroup(group_id=group, topics=topics)],
        require_stable=True,
    )
    asked = world.now()
    answer = await line.ask(request, version=BY_NAME, seconds=seconds)
    if answer is None:
        return None
    told = answer.groups[0]
    codes = [told.error_code, *(p.error_code for t in told.topics for p in t.partitions)]
    for code in map(ErrorCode.of, codes):
        if code.retriable or code in PASSING_CODES:
            line.hang_up()
            return None
        if code is not ErrorCode.NONE:
            raise AnswerError(code, f"offsets of {group}")
    offsets = {
        Place(topic.name, one.partition_index): one.committed_offset
        for topic in told.topics
        for one in topic.partitions
    }
    return Found(offsets, Span(asked, world.now(), world.reign()))


def _text_of(places: list[Place]) -> bytes:
    return "\n".join(map(str, places)).encode()


def _places_in(assignment: bytes) -> tuple[Place, ...]:
    pairs = [line.rpartition("-") for line in assignment.decode().splitlines()]
    return tuple(Place(topic, int(partition)) for topic, _, partition in pairs)
