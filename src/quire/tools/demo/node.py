"""The first act: a node is started, written to, killed in the middle with SIGKILL, started again, and read to the end.

Not here   the same with hundreds of seeds, power losses and bad disks (`make sim`).
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter

from quire.clients.cluster import Cluster
from quire.clients.errors import ClientError
from quire.clients.offsets import LATEST, offsets_at
from quire.clients.reader import Reader
from quire.clients.writer import Unsent, Writer
from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.records.compression import Compression
from quire.runtime.clock import RealClock
from quire.runtime.entropy import RealEntropy
from quire.runtime.network import RealNetwork
from quire.tools.demo.telling import fail, say
from quire.tools.local import LocalNode, make_or_find

TOPIC = "orders"
PARTITIONS = 3
BATCHES = 400
RECORDS_PER_BATCH = 250
KILLED_AT = BATCHES // 2
PAUSE_SECONDS = 0.05
_AWAY = (OSError, TimeoutError, ClientError)


def act() -> None:
    """The whole act, in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="quire-demo-") as directory:
        (node,) = make_or_find(directory, host="127.0.0.1", port=None, settings={}).nodes
        began = time.perf_counter()
        node.start()
        say(f"a node answers at {node.bootstrap} after {time.perf_counter() - began:.2f} s")
        try:
            asyncio.run(_write_and_read(node))
        finally:
            node.stop()


async def _write_and_read(node: LocalNode) -> None:
    acknowledged = await _write(node)
    found: Counter[bytes] = Counter()
    began = time.perf_counter()
    async with _cluster(node) as cluster:
        topic = await cluster.topic(TOPIC)
        ends = await offsets_at(cluster, topic, dict.fromkeys(range(PARTITIONS), LATEST))
        reader = Reader(cluster, topic)
        positions = dict.fromkeys(ends, 0)
        while positions:
            for one in await reader.fetch(positions):
                found.update(record.value or b"" for record in one.records)
                positions[one.partition] = one.next_offset
            positions = {n: at for n, at in positions.items() if at < ends[n]}
    seconds = time.perf_counter() - began
    lost = [value for value in acknowledged if value not in found]
    if lost:
        fail(f"{len(lost)} acknowledged records are gone, {lost[0]!r} first")
    twice = sum(count - 1 for count in found.values())
    say(
        f"read {sum(found.values()):,} records in {seconds:.2f} s: all {len(acknowledged):,} acknowledged ones are"
        f" there, {twice} came twice (their acknowledgement was lost, they were sent again)"
    )


async def _write(node: LocalNode) -> list[bytes]:
    """Every batch until it is acknowledged, with a kill in the middle; the values."""
    acknowledged: list[bytes] = []
    began = time.perf_counter()
    await _make_topic(node)
    cluster: Cluster | None = None
    number = 0
    killing: asyncio.Task[float] | None = None
    while number < BATCHES:
        values = [b"order %d" % (number * RECORDS_PER_BATCH + n) for n in range(RECORDS_PER_BATCH)]
        if number == KILLED_AT and killing is None:
            killing = asyncio.create_task(_kill_and_start(node))
        try:
            cluster = cluster or await _cluster(node).__aenter__()
            writer = Writer(
                cluster,
                await cluster.topic(TOPIC),
                RealEntropy(),
                compression=Compression.LZ4 if number % 2 else Compression.NONE,
            )
            unsent = [Unsent(value, value) for value in values]
            await writer.write(unsent, now_ms=RealClock().wall_ms())
        except _AWAY:
            if killing is not None and killing.done():
                killing.result()  # it may have failed: nobody comes back then
            if cluster is not None:
                cluster.close()
            cluster = None
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            acknowledged += values
            number += 1
    if cluster is not None:
        cluster.close()
    assert killing is not None
    away = await killing
    seconds = time.perf_counter() - began - away
    say(f"it answered again {away:.2f} s after that, recovered")
    say(f"wrote {len(acknowledged):,} records, each acknowledged, in {seconds:.2f} s")
    return acknowledged


async def _kill_and_start(node: LocalNode) -> float:
    """How long it took until it answered again."""
    began = time.perf_counter()
    await asyncio.to_thread(node.kill)
    say("killed it (SIGKILL) while records were on their way")
    await asyncio.to_thread(node.start)
    return time.perf_counter() - began


async def _make_topic(node: LocalNode) -> None:
    wanted = CreatableTopic(
        name=TOPIC, num_partitions=PARTITIONS, replication_factor=1, assignments=[], configs=[]
    )
    async with _cluster(node) as cluster:
        await cluster.ask(CreateTopicsRequest(topics=[wanted]))
        await cluster.topic(TOPIC, is_new=True)


def _cluster(node: LocalNode) -> Cluster:
    return Cluster(RealNetwork(), [node.address], client_id="quire-demo")
