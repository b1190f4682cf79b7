"""Why a group does not get on: its coordinator, its members, its offsets, what holds its readers back.

A group is looked at twice, some seconds apart: what moved in between says more than where it stands.

Not here   the cluster around it (cluster), what a consumer's own log says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, coordinator_of
from quire.clients.errors import AnswerError, ClientError
from quire.clients.offsets import LATEST, READ_COMMITTED, leaders_of, offsets_at
from quire.errors import ErrorCode
from quire.ports.network import Address, Network
from quire.tools.doctor.findings import Finding, fine, warning, wrong
from quire.tools.group.members import Group, Member, find_group
from quire.tools.group.positions import Position, positions_of, topics_named
from quire.tools.places import Place, any_holds
from quire.tools.showing import moment
from quire.tools.txn.transactions import find_transaction, list_transactions
from quire.tools.txn.writers import Writer, writers_of
from quire.types import TopicPartition

BRIEFLY_SECONDS: Final = 2.0
"""How long a coordinator may be away before that is the finding."""
SHOWN: Final = 5
REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


class Look(NamedTuple):
    """A group at one moment."""

    group: Group
    positions: list[Position]

    @property
    def lag(self) -> int:
        return sum(one.lag or 0 for one in self.positions)


async def examine_group(
    network: Network,
    bootstrap: Sequence[Address],
    name: str,
    places: tuple[Place, ...] = (),
    *,
    pause_seconds: float,
) -> list[Finding]:
    """All checks; those that need offsets are left out where nobody can say them."""

    def chosen(place: TopicPartition) -> bool:
        return any_holds(places, place)

    try:
        async with Cluster(network, bootstrap, client_id="quire-doctor") as cluster:
            found = [await _coordinator(cluster, name)]
            before = await _look(cluster, name, chosen)
            await asyncio.sleep(pause_seconds)
            after = await _look(cluster, name, chosen)
            found += members(before, after)
            found += offsets(after)
            found += await _held_back(cluster, after)
            found += progress(before, after, pause_seconds)
    except AnswerError as error:
        return [_unasked(name, error)]
    except (ClientError, OSError, TimeoutError) as error:
        text = str(error) or type(error).__name__
        return [wrong(f"group {name}", text, "`quire doctor` without --group says more.")]
    return found


async def _coordinator(cluster: Cluster, name: str) -> Finding:
    node_id = await coordinator_of(cluster, Kind.GROUP, name, patience_seconds=BRIEFLY_SECONDS)
    return fine("coordinator", f"is broker {node_id}")


async def _look(cluster: Cluster, name: str, chosen: Callable[[TopicPartition], bool]) -> Look:
    group = await find_group(cluster, name, patience_seconds=BRIEFLY_SECONDS)
    return Look(group, await positions_of(cluster, group, chosen, is_timed=False))


def _unasked(name: str, error: AnswerError) -> Finding:
    subject = f"group {name}"
    match error.code:
        case ErrorCode.GROUP_ID_NOT_FOUND:
            remedy = "See `quire group list`: another group.id, or nobody has ever joined."
            return wrong(subject, "is not there", remedy)
        case ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            remedy = "Wait: it serves the group when it has read its log."
            return wrong("coordinator", "still reads its part of __consumer_offsets", remedy)
        case ErrorCode.COORDINATOR_NOT_AVAILABLE | ErrorCode.NOT_COORDINATOR:
            remedy = (
                "`quire topic describe __consumer_offsets` shows which partition has no leader."
            )
            return wrong("coordinator", "is absent: nobody coordinates the group", remedy)
        case _:
            return wrong(subject, str(error), "`quire doctor` without --group says more.")


def members(before: Look, after: Look) -> Iterator[Finding]:
    """Nobody there, some with nothing to do, some gone or new between the looks, all waiting for one another."""
    group, subject = after.group, "members"
    if not group.members:
        if after.lag:
            remedy = (
                "Start its consumers. If they run: see their logs for max.poll.interval.ms or "
                "session.timeout.ms exceeded; they were expelled and have not come back."
            )
            yield wrong(subject, f"none: {after.lag} records wait and nobody reads", remedy)
        else:
            yield fine(subject, "none, and nothing is left to read")
        return
    gone = _missing(before.group, after.group)
    new = _missing(after.group, before.group)
    if gone or new:
        said = [f"gone: {_some(gone)}"] if gone else []
        said += [f"new: {_some(new)}"] if new else []
        remedy = (
            "Members that come and go make everybody start over: raise max.poll.interval.ms, or "
            "let them process fewer records at once (max.poll.records)."
        )
        yield warning(subject, f"changed within seconds; {'; '.join(said)}", remedy)
    if group.state in REBALANCING and before.group.state in REBALANCING:
        remedy = (
            "A member has not answered: it is busy in its own code, or dead. It is expelled after "
            "its rebalance timeout (max.poll.interval.ms)."
        )
        yield wrong(subject, f"wait for one another: the group is {group.state}", remedy)
        return
    idle = [one for one in group.members if not one.partitions]
    if idle:
        partitions = len(group.owners())
        text = f"{len(idle)} of {len(group.members)} have nothing to read: {_some(idle)}"
        remedy = (
            f"Their topics have {partitions} partitions for them: `quire topic grow`, or fewer."
        )
        yield warning(subject, text, remedy)
    elif not (gone or new):
        yield fine(subject, f"{len(group.members)}, each with partitions")


def _missing(these: Group, those: Group) -> list[Member]:
    there = {one.member_id for one in those.members}
    return [one for one in these.members if one.member_id not in there]


def offsets(look: Look) -> Iterator[Finding]:
    """What a partition's offset, or its lack of one, makes impossible."""
    name = look.group.name
    for one in look.positions:
        subject = str(one.place)
        reset = f"quire group reset {name} --topic {one.place.topic}:{one.place.partition}"
        if one.start is None or one.end is None:
            remedy = f"`quire topic describe {one.place.topic}` shows which brokers are missing."
            yield wrong(subject, "has no leader (or is deleted): it cannot be read", remedy)
        elif one.committed is None:
            if one.end > one.start:
                remedy = "Where its reader begins is for auto.offset.reset; it has to commit, too."
                yield warning(subject, "nothing has ever been committed", remedy)
        elif one.committed < one.start:
            lost = one.start - one.committed
            remedy = (
                f"`{reset} --to-earliest --execute` goes on with what is left; retention.ms "
                "and retention.bytes say how long records stay."
            )
            text = f"{lost} records were deleted before they were read: committed {one.committed}, "
            yield wrong(subject, f"{text}but the log begins at {one.start}", remedy)
        elif one.committed > one.end:
            text = f"committed {one.committed}, but the log ends at {one.end}: it was made anew"
            yield wrong(subject, text, f"`{reset} --to-earliest --execute`, or --to-latest.")


async def _held_back(cluster: Cluster, look: Look) -> list[Finding]:
    """Open transactions that readers of committed data wait for."""
    behind = [one for one in look.positions if one.end is not None and one.lag != 0]
    topics = await topics_named(cluster, [one.place.topic for one in behind])
    found = []
    for one in behind:
        topic = topics.get(one.place.topic)
        if topic is None or leaders_of(topic).get(one.place.partition, -1) < 0:
            continue
        wanted = {one.place.partition: LATEST}
        stable = await offsets_at(cluster, topic, wanted, isolation=READ_COMMITTED)
        last_stable = stable[one.place.partition]
        if one.end is not None and last_stable < one.end:
            writers = await writers_of(cluster, topics, [one.place])
            text, remedy = await _who(cluster, writers, last_stable)
            is_there = one.committed is not None and one.committed >= last_stable
            found.append((wrong if is_there else warning)(str(one.place), text, remedy))
    return found


async def _who(cluster: Cluster, writers: list[Writer], last_stable: int) -> tuple[str, str]:
    text = f"readers of committed data stop at {last_stable}: "
    pinning = [one for one in writers if one.begins is not None]
    if not pinning:
        return f"{text}a transaction has just ended", "Look again."
    one = min(pinning, key=lambda writer: writer.begins or 0)
    text += f"producer {one.producer_id} has a transaction open"
    listed = await list_transactions(cluster, producer_ids=[one.producer_id])
    place = f"{one.place.topic}:{one.place.partition}"
    if listed:
        owner = await find_transaction(cluster, listed[0].transactional_id)
        if owner.is_open and one.place in owner.partitions:
            text += f" as {owner.transactional_id} since {moment(owner.since_ms)} ({owner.state})"
            seconds = owner.timeout_ms / 1000
            return text, f"Let it end, or wait: it is aborted {seconds:g} s after it began."
    since = moment(one.last_ms)
    text += f" since {since} or before, and its coordinator knows nothing of it: it hangs"
    return text, f"`quire txn abort {place} --producer-id {one.producer_id}`"


def progress(before: Look, after: Look, seconds: float) -> Iterator[Finding]:
    """What was committed between the looks."""
    then = {one.place: one for one in before.positions}
    stuck, moved = [], 0
    for one in after.positions:
        old = then.get(one.place)
        if old is None or old.committed is None or one.committed is None:
            continue
        moved += max(one.committed - old.committed, 0)
        if one.committed <= old.committed and one.lag and one.member is not None:
            grew = (one.end or 0) - (old.end or 0)
            stuck.append(f"{one.place} at {one.committed} ({one.lag} left, {grew} new)")
    if stuck:
        is_growing = after.lag > before.lag
        text = f"nothing was committed for {seconds:g} s: {_listed(stuck)}"
        remedy = (
            "Its member is paused, busy with one record, or does not commit: see its log; a record "
            "that fails each time is looked at with `quire consume TOPIC OFFSET -p P`."
        )
        yield (wrong if is_growing else warning)("commits", text, remedy)
    elif not after.lag:
        yield fine("lag", "none: everything was read")
    elif moved:
        rate = moved / seconds
        text = f"{after.lag} records, {rate:.0f} a second are read"
        if after.lag > before.lag:
            remedy = "More is written than is read: more members, or more partitions."
            yield warning("lag", f"{text}, and it grows", remedy)
        else:
            yield fine("lag", f"{text}: about {after.lag / rate:.0f} s, if nothing new came")


def _some(members: Sequence[Member]) -> str:
    return _listed([str(one) for one in members])


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")
