"""One run: a world made of a seed, its workload and its nemesis, judged at the end.

    outcome = run_seed(17)            BrokenRunError says which seed, and what happened last

Invariants
  I1  The seed decides everything: two runs of it have the same trace, whatever PYTHONHASHSEED is.
Not here   many seeds, processes (tools.simulate).
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from quire.errors import QuireError
from quire.node.format import Formatting, format_directories
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.laws import judge
from quire.sim.life import Life
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.nemesis import Nemesis
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace
from quire.sim.workloads.produce_consume import NotConvergedError, Workload
from quire.types import uuid_to_text

FAULTS_SECONDS = 40.0
SETTLE_SECONDS = 300.0
"""How long everything may take to come to its end once all is healed."""
SHOWN_LINES = 40
CLIENT_HOST = "clients"
"""One machine for all clients: what is cut from the node is cut for all of them."""


class BrokenRunError(QuireError):
    """A seed that breaks a law."""


class Outcome(NamedTuple):
    """What a run came to."""

    seed: int
    digest: str
    deaths: int
    power_losses: int
    acknowledged: int
    faults: dict[str, int]


def run_seed(seed: int) -> Outcome:
    """Run one seed to its end and judge it."""
    scene = _Scene(seed)
    try:
        return run(scene.play)  # type: ignore[no-any-return]
    except Exception as broken:
        lines = "\n".join(list(scene.trace.lines)[-SHOWN_LINES:]) if scene.trace else ""
        raise BrokenRunError(
            f"seed {seed}: {type(broken).__name__}: {broken}\n"
            f"run it again: make sim SEED={seed}\n{lines}"
        ) from broken


class _Scene:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.trace: Trace | None = None

    async def play(self) -> Outcome:
        loop = asyncio.get_running_loop()
        entropy = SeededEntropy(self._seed)
        trace = self.trace = Trace(loop)
        history = History()
        network = SimNetwork(entropy, delay_ms=(0, 1 + entropy.below(20)))
        machine = Machine("b1", loop, network, trace, entropy)
        life = Life(machine, _settings(entropy), trace, history)
        workload = Workload(life, network.machine(CLIENT_HOST), history, entropy.stream("work"))
        if workload.plan.is_durable:
            life.settings["quire.log.fsync.before.ack"] = "true"
        nemesis = Nemesis(life, network, [CLIENT_HOST], history, entropy.stream("nemesis"))
        format_directories(
            machine.disk,
            life.settings,
            Formatting(
                cluster_id=uuid_to_text(entropy.stream("cluster").bytes(16)), standalone=True
            ),
            entropy=entropy.stream("format"),
            now_ms=machine.clock.wall_ms(),
        )

        def on_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            if not life.on_loop_error(context.get("exception")):
                unheard.append(context.get("exception") or QuireError(str(context.get("message"))))

        unheard: list[BaseException] = []
        loop.set_exception_handler(on_error)
        living = asyncio.ensure_future(life.run())
        faults = asyncio.ensure_future(
            nemesis.run(seconds=FAULTS_SECONDS, every_ms=1000 + entropy.below(6000))
        )
        working = asyncio.ensure_future(workload.run(faults))
        await asyncio.wait(
            {living, working},
            return_when=asyncio.FIRST_COMPLETED,
            timeout=FAULTS_SECONDS + SETTLE_SECONDS,
        )
        if living.done():
            living.result()
        if not working.done():
            raise NotConvergedError(f"not everything came to its end in {SETTLE_SECONDS:g} s")
        await working
        await life.end()
        await living
        if unheard:
            raise unheard[0]
        judge(history)
        return Outcome(
            self._seed,
            trace.digest() + machine.disk.trace.digest(),
            life.deaths,
            life.power_losses,
            sum(len(one.acknowledged) for one in history.partitions.values()),
            history.faults,
        )


def _settings(entropy: SeededEntropy) -> dict[str, str]:
    """What differs between worlds, besides what must be said of any node."""
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": "b1:9093",
        "listeners": "PLAINTEXT://b1:9092,CONTROLLER://b1:9093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": ",".join(f"/data-{number}" for number in range(1 + entropy.below(2))),
        "log.flush.interval.messages": str(1 + entropy.below(2000)),
        "log.index.interval.bytes": str(entropy.below(4096)),
        "log.retention.check.interval.ms": "3000",
        "log.flush.offset.checkpoint.interval.ms": str(500 + entropy.below(10_000)),
        "replica.high.watermark.checkpoint.interval.ms": str(500 + entropy.below(5000)),
        "log.segment.delete.delay.ms": "2000",
        "metadata.log.max.record.bytes.between.snapshots": str(300 + entropy.below(5000)),
        "auto.create.topics.enable": "false",
    }
