"""Whoever breaks things breaks all kinds of things, by seed, and heals them when it is over."""

from __future__ import annotations

import pytest
from tests.sim.scene import CLIENTS, Scene, living

from quire.sim.nemesis import PAUSE_MS, WEIGHTS, Nemesis

ALL = set(WEIGHTS)


async def struck(scene: Scene, seconds: float = 40.0, every_ms: int = 1000) -> None:
    nemesis = Nemesis(
        scene.life, scene.network, [CLIENTS], scene.history, scene.entropy.stream("nemesis")
    )
    await nemesis.run(seconds=seconds, every_ms=every_ms)


@pytest.mark.parametrize("seed", range(6))
def test_when_it_is_over_everything_is_healed_and_the_node_comes_back(seed: int) -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        await struck(scene)
        assert sum(scene.history.faults.values()) > 10
        assert not scene.machine.is_short_of_room
        for link in (("b1", CLIENTS), (CLIENTS, "b1")):
            assert not scene.network.is_cut(*link)
        assert not scene.network.mute_links
        await scene.until_serving()
        operations = 2000
        for _ in range(operations):
            assert not scene.machine.disk.faults.strikes_now(), "no strike is left for later"

    living(main, seed=seed)


def test_every_kind_of_fault_comes_up_and_is_counted() -> None:
    async def main(scene: Scene) -> dict[str, int]:
        await scene.until_serving()
        await struck(scene, seconds=60)
        return scene.history.faults

    found: dict[str, int] = {}
    for seed in range(5):
        for name, count in living(main, seed=seed).items():
            found[name] = found.get(name, 0) + count
    assert set(found) == ALL
    assert found["strike"] > found["restart"], "what is likelier to find something comes more often"


def test_the_seed_decides_what_is_broken_and_when() -> None:
    async def main(scene: Scene) -> tuple[dict[str, int], str]:
        await scene.until_serving()
        await struck(scene)
        return scene.history.faults, scene.trace.digest()

    assert living(main, seed=4) == living(main, seed=4)
    assert living(main, seed=4) != living(main, seed=5)


def test_no_fault_comes_after_its_time() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        loop_time = scene.machine.clock.monotonic_ms
        begun_ms = loop_time()
        await struck(scene, seconds=5, every_ms=3000)
        assert loop_time() - begun_ms < 5000 + 6000 + PAUSE_MS, "the last one may still be held"

    for seed in range(4):
        living(main, seed=seed)


def test_what_has_no_weight_is_not_broken_and_without_losses_no_strike_takes_power() -> None:
    async def main(scene: Scene) -> dict[str, int]:
        await scene.until_serving()
        weights = {name: weight for name, weight in WEIGHTS.items() if name != "power loss"}
        nemesis = Nemesis(
            scene.life,
            scene.network,
            [CLIENTS],
            scene.history,
            scene.entropy.stream("nemesis"),
            weights=weights,
        )
        await nemesis.run(seconds=60, every_ms=1000)
        await scene.until_serving()
        assert scene.life.deaths > 3
        assert scene.life.power_losses == 0
        return scene.history.faults

    for seed in range(4):
        assert "power loss" not in living(main, seed=seed)


def test_without_time_nothing_is_broken() -> None:
    async def main(scene: Scene) -> None:
        await scene.until_serving()
        await struck(scene, seconds=0)
        assert scene.history.faults == {}

    living(main)
