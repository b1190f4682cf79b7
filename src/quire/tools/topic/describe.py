"""`quire topic describe`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.offsets import EARLIEST, LATEST, leaders_of, offsets_at
from quire.config.describe import Source
from quire.metadata.image import TOPIC
from quire.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from quire.protocol.messages.metadata import MetadataResponsePartition
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.showing import JSON, format_option, show_one, show_rows
from quire.types import uuid_to_text


async def describe(cluster: Cluster, name: str) -> dict[str, Any]:
    """A topic, its own settings, and each partition with where its log begins and ends."""
    topic = await cluster.topic(name)
    led = [partition for partition, leader in leaders_of(topic).items() if leader >= 0]
    starts = await offsets_at(cluster, topic, dict.fromkeys(led, EARLIEST))
    ends = await offsets_at(cluster, topic, dict.fromkeys(led, LATEST))
    partitions = [
        _partition(one, starts, ends)
        for one in sorted(topic.partitions, key=lambda p: p.partition_index)
    ]
    return {
        "topic": name,
        "id": uuid_to_text(topic.topic_id),
        "settings": await own_settings(cluster, name),
        "partitions": partitions,
    }


async def own_settings(cluster: Cluster, name: str) -> dict[str, str | None]:
    """What was set for this topic alone."""
    resource = DescribeConfigsResource(
        resource_type=TOPIC, resource_name=name, configuration_keys=None
    )
    answer: DescribeConfigsResponse = await cluster.ask(
        DescribeConfigsRequest(resources=[resource])
    )
    return {
        one.name: one.value
        for one in answer.results[0].configs
        if one.config_source == Source.TOPIC
    }


def _partition(
    one: MetadataResponsePartition, starts: dict[int, int], ends: dict[int, int]
) -> dict[str, Any]:
    return {
        "partition": one.partition_index,
        "leader": one.leader_id if one.leader_id >= 0 else None,
        "epoch": one.leader_epoch,
        "replicas": list(one.replica_nodes),
        "isr": list(one.isr_nodes),
        "offline": list(one.offline_replicas),
        "start": starts.get(one.partition_index),
        "end": ends.get(one.partition_index),
    }


@click.command("describe")
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
@format_option
def describe_topics(names: tuple[str, ...], bootstrap: Addresses, form: str) -> None:
    """Show topics closely.

    Settings, leaders, replicas in sync, where each log begins and ends.
    """

    async def all_of_them(cluster: Cluster) -> list[dict[str, Any]]:
        return [await describe(cluster, name) for name in names]

    for number, found in enumerate(asked(bootstrap, all_of_them)):
        if form == JSON:
            show_one(found, form)
            continue
        partitions = found.pop("partitions")
        if number:
            click.echo()
        show_one(found, form)
        show_rows(partitions, form)
