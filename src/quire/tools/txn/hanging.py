"""`quire txn find-hanging`: transactions that are open in a partition, and that nobody will end.

Either the coordinator knows nothing of them, or they are open longer than any may be (`transaction.max.timeout.ms`, and
five minutes for the coordinator to act).

Invariants
  I1  Partitions are asked again when the coordinators have answered: a transaction that ended meanwhile is not hanging.
See   KIP-664, KIP-890
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, expect
from quire.clients.offsets import leaders_of
from quire.errors import ErrorCode
from quire.metadata.image import BROKER
from quire.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.runtime.clock import RealClock
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option
from quire.tools.places import Place, PlaceType, any_holds
from quire.tools.showing import format_option, moment, show_rows
from quire.tools.span import read_duration
from quire.tools.txn.transactions import find_transaction, list_transactions
from quire.tools.txn.writers import Writer, writers_of
from quire.types import TopicPartition

LONGEST: Final = "transaction.max.timeout.ms"
LONGEST_DEFAULT_MS: Final = 900_000
GRACE_MS: Final = 5 * 60_000


class Hanging(NamedTuple):
    """A transaction that hangs, and why it is thought to."""

    writer: Writer
    transactional_id: str | None
    why: str


async def hanging(
    cluster: Cluster, topics: dict[str, MetadataResponseTopic], places: Iterable[TopicPartition],
    *, longest_ms: int, now_ms: int,
) -> list[Hanging]:  # fmt: skip
    """The transactions in these partitions that hang."""
    places = list(places)
    open_ones = [one for one in await writers_of(cluster, topics, places) if one.begins is not None]
    if not open_ones:
        return []
    suspects = await _suspects(cluster, open_ones, longest_ms, now_ms)
    still = {
        (one.place, one.producer_id, one.begins)
        for one in await writers_of(cluster, topics, {one.writer.place for one in suspects})
    }
    return [
        one
        for one in suspects
        if (one.writer.place, one.writer.producer_id, one.writer.begins) in still  # I1
    ]


async def _suspects(
    cluster: Cluster, open_ones: list[Writer], longest_ms: int, now_ms: int
) -> list[Hanging]:
    producers = sorted({one.producer_id for one in open_ones})
    listed = await list_transactions(cluster, producer_ids=producers)
    names = {one.producer_id: one.transactional_id for one in listed}
    known: dict[str, tuple[TopicPartition, ...]] = {}
    for name in names.values():
        try:
            known[name] = (await find_transaction(cluster, name)).partitions
        except AnswerError as error:
            if error.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                raise
    found = []
    for one in open_ones:
        owner = names.get(one.producer_id)
        if owner is None or owner not in known:
            found.append(Hanging(one, None, "no coordinator knows its producer"))
        elif one.place not in known[owner]:
            found.append(Hanging(one, owner, "its coordinator does not count this partition in"))
        elif now_ms - one.last_ms > longest_ms:
            found.append(Hanging(one, owner, "open longer than it may be"))
    return found


async def longest_allowed_ms(cluster: Cluster) -> int:
    """How long a transaction may be open in this cluster, and a little."""
    node_id = min(cluster.brokers)
    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(node_id), configuration_keys=[LONGEST]
    )
    answer = await cluster.ask(DescribeConfigsRequest(resources=[resource]), node_id=node_id)
    expect(answer.results[0].error_code, f"settings of broker {node_id}")
    values = [int(one.value) for one in answer.results[0].configs if one.value is not None]
    return (values[0] if values else LONGEST_DEFAULT_MS) + GRACE_MS


async def search(
    cluster: Cluster, places: tuple[Place, ...], broker: int | None, older_than_ms: int | None,
    now_ms: int,
) -> list[Hanging]:  # fmt: skip
    """Look where it was asked for."""
    answer = await cluster.refresh([place.topic for place in places] if places else None)
    topics = {one.name or "": one for one in answer.topics if one.error_code == ErrorCode.NONE}
    for place in places:
        if place.topic not in topics:
            raise AnswerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {place.topic}")
    if broker is not None and broker not in cluster.brokers:
        raise SettingError(f"--broker {broker}: there are {sorted(cluster.brokers)}")
    chosen = [
        one
        for name, topic in topics.items()
        for partition, leader in leaders_of(topic).items()
        if any_holds(places, one := TopicPartition(name, partition)) and broker in (None, leader)
    ]
    longest_ms = await longest_allowed_ms(cluster) if older_than_ms is None else older_than_ms
    return await hanging(cluster, topics, chosen, longest_ms=longest_ms, now_ms=now_ms)


def row(one: Hanging) -> dict[str, Any]:
    """What a table shows of it."""
    writer = one.writer
    return {
        "topic": writer.place.topic,
        "partition": writer.place.partition,
        "producer_id": writer.producer_id,
        "epoch": writer.producer_epoch,
        "start_offset": writer.begins,
        "last_time": moment(writer.last_ms),
        "transactional_id": one.transactional_id,
        "why": one.why,
    }


@click.command("find-hanging")
@bootstrap_option
@click.option(
    "--topic", "places", type=PlaceType(), multiple=True, help="Only here; without, everywhere."
)
@click.option("--broker", type=int, help="Only partitions that this broker leads.")
@click.option(
    "--older-than", "older", metavar="DURATION",
    help="Longer is too long; transaction.max.timeout.ms and 5 minutes if not given.",
)  # fmt: skip
@format_option
def find_hanging(
    bootstrap: Addresses,
    places: tuple[Place, ...],
    broker: int | None,
    older: str | None,
    form: str,
) -> None:
    """Find transactions that nobody will end.

    They hold back every reader of committed data. `quire txn abort` ends them.
    """
    older_than_ms = None if older is None else read_duration(older)
    now_ms = RealClock().wall_ms()
    found = asked(bootstrap, lambda cluster: search(cluster, places, broker, older_than_ms, now_ms))
    show_rows([row(one) for one in found], form, empty="no transaction hangs")
