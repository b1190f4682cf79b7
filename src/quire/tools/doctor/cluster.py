"""A cluster, asked from outside: can it be reached where it says it is, has everything a leader, is there room.

What cannot be asked (an older cluster, a missing right) is a warning, not a fault.

Not here   a group that does not get on (group), the machine that a node runs on (machine).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from quire.clients.cluster import Cluster
from quire.clients.connection import Connection
from quire.clients.errors import ClientError, UnreachableError
from quire.errors import ErrorCode
from quire.metadata.image import BROKER
from quire.ports.network import Address, Network
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from quire.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from quire.protocol.messages.metadata import MetadataResponse
from quire.tools.doctor.findings import Finding, fine, warning, wrong

CONNECT_SECONDS: Final = 5.0
LEAST_FREE: Final = 0.1
"""Of a directory's room, below which it is time to act."""
SHOWN: Final = 5
LOOPBACK: Final = ("localhost", "127.", "::1")
_REPLICATED: Final = (
    ("offsets.topic.replication.factor", "consumer groups"),
    ("transaction.state.log.replication.factor", "transactions"),
    ("transaction.state.log.min.isr", "transactions"),
)


async def examine_cluster(network: Network, bootstrap: Sequence[Address]) -> list[Finding]:
    """All checks, in the order in which one depends on another."""
    found: list[Finding] = []
    answering: list[Address] = []
    for address in bootstrap:
        trouble = await unreachable(network, address)
        if trouble is None:
            answering.append(address)
            found.append(fine(str(address), "answers"))
        else:
            found.append(
                wrong(str(address), trouble, "Is a node running there? `quire up` starts one.")
            )
    if not answering:
        return found
    try:
        async with Cluster(network, answering, client_id="quire-doctor") as cluster:
            metadata = await cluster.refresh()
            found += await _advertised(network, cluster, answering)
            found += _partitions(metadata)
            for check in (_quorum, _internal_topics, _directories):
                found += await _or_warning(check, cluster)
    except (ClientError, OSError, TimeoutError) as error:
        text = str(error) or type(error).__name__
        found.append(wrong("the cluster", text, "See what its nodes say in their logs."))
    return found


async def unreachable(network: Network, address: Address) -> str | None:
    """Why a node cannot be spoken with; None when it can."""
    try:
        connection = await Connection.open(network, address, timeout_seconds=CONNECT_SECONDS)
    except TimeoutError:
        return f"did not answer within {CONNECT_SECONDS:g} s: a firewall, or not a Kafka listener"
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        return f"cannot be reached: {reason}"
    except ClientError as error:
        return f"does not speak as a Kafka listener does ({error}): TLS, or something else"
    connection.close()
    return None


async def _or_warning(
    check: Callable[[Cluster], Awaitable[list[Finding]]], cluster: Cluster
) -> list[Finding]:
    try:
        return await check(cluster)
    except (ClientError, TimeoutError) as error:
        what = check.__name__.strip("_").replace("_", " ")
        return [warning(what, f"could not be asked: {error}", "A right may be missing.")]


async def _advertised(
    network: Network, cluster: Cluster, bootstrap: Sequence[Address]
) -> list[Finding]:
    """The old trap: the bootstrap address answers, and names brokers that cannot be reached from here."""
    found = []
    from_afar = not all(_is_loopback(one.host) for one in bootstrap)
    for node, address in sorted(cluster.brokers.items()):
        subject = f"broker {node}"
        trouble = None if address in bootstrap else await unreachable(network, address)
        if trouble is not None:
            remedy = "Set its advertised.listeners to an address that clients can reach."
            found.append(wrong(subject, f"advertises {address}, which {trouble}", remedy))
        elif from_afar and _is_loopback(address.host):
            remedy = "Set advertised.listeners: clients on other machines are sent to themselves."
            found.append(warning(subject, f"advertises {address}", remedy))
        else:
            found.append(fine(subject, f"is where it says: {address}"))
    return found


def _is_loopback(host: str) -> bool:
    return host.startswith(LOOPBACK)


def _partitions(metadata: MetadataResponse) -> list[Finding]:
    leaderless, lagging, offline, count = [], [], [], 0
    for topic in metadata.topics:
        for one in topic.partitions:
            count += 1
            name = f"{topic.name}-{one.partition_index}"
            if one.leader_id < 0:
                leaderless.append(name)
            if one.offline_replicas:
                offline.append(name)
            elif len(one.isr_nodes) < len(one.replica_nodes):
                lagging.append(name)
    found = []
    if leaderless:
        remedy = "Start the brokers that hold their replicas; `quire topic describe` names them."
        found.append(wrong("partitions", f"without a leader: {_some(leaderless)}", remedy))
    if offline:
        remedy = "Start the brokers that are gone, or mend their directories."
        found.append(wrong("partitions", f"with replicas offline: {_some(offline)}", remedy))
    if lagging:
        remedy = "Wait; if it stays, look at disk and network of the brokers that lag."
        found.append(warning("partitions", f"not all replicas in sync: {_some(lagging)}", remedy))
    return found or [fine("partitions", f"{count}, all led and in sync")]


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


async def _quorum(cluster: Cluster) -> list[Finding]:
    wanted = quorum.DescribeQuorumRequestPartitionData(partition_index=0)
    topic = quorum.DescribeQuorumRequestTopicData(
        topic_name="__cluster_metadata", partitions=[wanted]
    )
    answer = await cluster.ask(quorum.DescribeQuorumRequest(topics=[topic]))
    code = ErrorCode.of(answer.error_code)
    if code is not ErrorCode.NONE:
        return [wrong("quorum", f"cannot say who leads: {code.name}", "Start more controllers.")]
    (one,) = answer.topics[0].partitions
    behind = [
        str(voter.replica_id)
        for voter in one.current_voters
        if voter.log_end_offset < one.high_watermark
    ]
    if behind:
        remedy = "One more failure may stop the controller: look at these nodes."
        return [warning("quorum", f"voters {', '.join(behind)} are behind", remedy)]
    voters = len(one.current_voters)
    return [
        fine("quorum", f"node {one.leader_id} leads in epoch {one.leader_epoch}, {voters} vote")
    ]


async def _internal_topics(cluster: Cluster) -> list[Finding]:
    """Defaults ask for three brokers: with fewer, groups and transactions cannot begin."""
    node_id, brokers = min(cluster.brokers), len(cluster.brokers)
    resource = DescribeConfigsResource(
        resource_type=BROKER,
        resource_name=str(node_id),
        configuration_keys=[name for name, _ in _REPLICATED],
    )
    answer = await cluster.ask(DescribeConfigsRequest(resources=[resource]), node_id=node_id)
    values = {one.name: int(one.value or 0) for one in answer.results[0].configs}
    found = [
        wrong(
            name,
            f"is {values[name]}, but there are {brokers} brokers: {what} cannot begin",
            f"Set {name}={brokers}, or start more brokers.",
        )
        for name, what in _REPLICATED
        if values.get(name, 0) > brokers
    ]
    return found or [fine("internal topics", "fit the number of brokers")]


async def _directories(cluster: Cluster) -> list[Finding]:
    found: list[Finding] = []
    for node_id in sorted(cluster.brokers):
        try:
            answer = await cluster.ask(DescribeLogDirsRequest(topics=[]), node_id=node_id)
        except UnreachableError:
            continue  # it was told above
        for one in answer.results:
            found += _directory(
                f"broker {node_id}: {one.log_dir}",
                ErrorCode.of(one.error_code),
                one.usable_bytes,
                one.total_bytes,
            )
    return found


def _directory(subject: str, code: ErrorCode, usable: int, total: int) -> Iterator[Finding]:
    if code is not ErrorCode.NONE:
        yield wrong(subject, f"does not work: {code.name}", "Mend the disk, restart the broker.")
    elif total > 0:
        yield room(subject, usable, total)


def room(subject: str, usable: int, total: int) -> Finding:
    """Whether a disk has room left."""
    text = f"{usable / 2**30:.1f} GiB of {total / 2**30:.1f} GiB are free"
    if usable < LEAST_FREE * total:
        return warning(subject, text, "Make room, or lower retention.ms or retention.bytes.")
    return fine(subject, text)
