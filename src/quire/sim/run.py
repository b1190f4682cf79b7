"""One run: a world made of a seed, a workload and a nemesis, judged at the end.

    outcome = run_seed(17, "groups")       BrokenRunError says which seed, and what happened last

A run is data: the name of its workload and a seed. A workload says what its node is set to and what may be broken.

Invariants
  I1  The seed decides everything: two runs of it have the same trace, whatever PYTHONHASHSEED is.
Not here   many seeds, processes (tools.simulate); what clients do and which laws hold (workloads).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from quire.errors import QuireError
from quire.node.format import Formatting, format_directories
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.nemesis import Nemesis
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace
from quire.sim.workloads.groups import GroupsWorkload
from quire.sim.workloads.produce_consume import ProduceConsumeWorkload
from quire.sim.workloads.transactions import TransactionsWorkload
from quire.sim.workloads.work import NotConvergedError, Work, World
from quire.types import uuid_to_text

FAULTS_SECONDS = 40.0
SETTLE_SECONDS = 300.0
"""How long everything may take to come to its end once all is healed."""
SHOWN_LINES = 40
CLIENT_HOST = "clients"
"""One machine for all clients: what is cut from the node is cut for all of them."""

WORKLOADS: Final[Mapping[str, type[Work]]] = {
    "produce_consume": ProduceConsumeWorkload,
    "groups": GroupsWorkload,
    "transactions": TransactionsWorkload,
}


class BrokenRunError(QuireError):
    """A seed that breaks a law."""


class Outcome(NamedTuple):
    """What a run came to."""

    seed: int
    digest: str
    deaths: int
    power_losses: int
    acknowledged: int
    """Records, commits or transactions, by workload."""
    faults: dict[str, int]


def run_seed(seed: int, workload: str = "produce_consume") -> Outcome:
    """Run one seed to its end and judge it."""
    scene = _Scene(seed, WORKLOADS[workload])
    try:
        return run(scene.play)  # type: ignore[no-any-return]
    except Exception as broken:
        lines = "\n".join(list(scene.trace.lines)[-SHOWN_LINES:]) if scene.trace else ""
        raise BrokenRunError(
            f"seed {seed} of {workload}: {type(broken).__name__}: {broken}\n"
            f"run it again: make sim SEED={seed} WORKLOAD={workload}\n{lines}"
        ) from broken


class _Scene:
    def __init__(self, seed: int, workload: type[Work]) -> None:
        self._seed = seed
        self._workload = workload
        self.trace: Trace | None = None
        self._unheard: list[BaseException] = []

    async def play(self) -> Outcome:
        loop = asyncio.get_running_loop()
        entropy = SeededEntropy(self._seed)
        trace = self.trace = Trace(loop)
        history = History()
        network = SimNetwork(entropy, delay_ms=(0, 1 + entropy.below(20)))
        machine = Machine("b1", loop, network, trace, entropy)
        life = Life(machine, _settings(entropy), trace, history)
        world = World(life, network.machine(CLIENT_HOST), history, trace)
        work = self._workload(world, entropy.stream("work"))
        life.settings.update(work.settings())
        nemesis = Nemesis(
            life,
            network,
            [CLIENT_HOST],
            history,
            entropy.stream("nemesis"),
            weights=work.faults(),
        )
        format_directories(
            machine.disk,
            life.settings,
            Formatting(
                cluster_id=uuid_to_text(entropy.stream("cluster").bytes(16)), standalone=True
            ),
            entropy=entropy.stream("format"),
            now_ms=machine.clock.wall_ms(),
        )
        self._listen_for_errors(loop, life)
        await self._live(life, work, nemesis, every_ms=1000 + entropy.below(6000))
        work.judge()
        return Outcome(
            self._seed,
            trace.digest() + machine.disk.trace.digest(),
            life.deaths,
            life.power_losses,
            work.acknowledged(),
            history.faults,
        )

    def _listen_for_errors(self, loop: asyncio.AbstractEventLoop, life: Life) -> None:
        def on_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if not life.on_loop_error(error):
                self._unheard.append(error or QuireError(str(context.get("message"))))

        loop.set_exception_handler(on_error)

    async def _live(self, life: Life, work: Work, nemesis: Nemesis, *, every_ms: int) -> None:
        living = asyncio.ensure_future(life.run())
        faults = asyncio.ensure_future(nemesis.run(seconds=FAULTS_SECONDS, every_ms=every_ms))
        working = asyncio.ensure_future(work.run(faults))
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
        if self._unheard:
            raise self._unheard[0]


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
