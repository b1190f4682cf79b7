"""`quire topic create`."""

from __future__ import annotations

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, expect
from quire.errors import ErrorCode
from quire.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from quire.tools.asking import Addresses, asked, bootstrap_option, pairs


async def make(
    cluster: Cluster, topics: list[CreatableTopic], *, check_only: bool
) -> list[AnswerError | None]:
    """Ask for all of them at once; what became of each, in their order, when brokers know of them."""
    answer: CreateTopicsResponse = await cluster.ask(
        CreateTopicsRequest(topics=topics, validate_only=check_only)
    )
    results = {one.name: one for one in answer.topics}
    outcomes: list[AnswerError | None] = []
    for wanted in topics:
        try:
            one = results[wanted.name]
            expect(one.error_code, f"topic {one.name}", one.error_message)
            if not check_only:
                await cluster.topic(one.name, is_new=True)
        except AnswerError as error:
            outcomes.append(error)
        else:
            outcomes.append(None)
    return outcomes


@click.command("create")
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
@click.option("-p", "--partitions", type=click.IntRange(1), help="How many; else num.partitions.")
@click.option(
    "-r", "--replicas", type=click.IntRange(1), help="Of each; else default.replication.factor."
)
@click.option("-s", "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting.")
@click.option("--if-absent", is_flag=True, help="It is no error when the topic is there.")
@click.option("--check-only", is_flag=True, help="Ask whether it could be made, and make nothing.")
def create_topics(
    names: tuple[str, ...],
    bootstrap: Addresses,
    partitions: int | None,
    replicas: int | None,
    settings: tuple[str, ...],
    if_absent: bool,  # noqa: FBT001
    check_only: bool,  # noqa: FBT001
) -> None:
    """Make topics."""
    configs = [CreatableTopicConfig(name=n, value=v) for n, v in pairs(settings).items()]
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=partitions or -1,
            replication_factor=replicas or -1,
            assignments=[],
            configs=configs,
        )
        for name in dict.fromkeys(names)
    ]
    outcomes = asked(bootstrap, lambda cluster: make(cluster, wanted, check_only=check_only))
    refused = None
    for topic, error in zip(wanted, outcomes, strict=True):
        if error is None:
            click.echo(f"topic {topic.name} {'could be made' if check_only else 'made'}")
        elif if_absent and error.code is ErrorCode.TOPIC_ALREADY_EXISTS:
            click.echo(f"topic {topic.name} is there already")
        else:
            refused = refused or error
    if refused is not None:
        raise refused
