from __future__ import annotations

from tests.broker.scene import Scene

from quire.broker.mutations import Allowance
from quire.protocol.messages.metadata import MetadataRequest


def allowance(scene: Scene, *, is_strict: bool) -> Allowance:
    call = scene.call(MetadataRequest(topics=None), 12)
    return Allowance(scene.broker, call, is_strict=is_strict)


def test_without_a_limit_everything_is_allowed() -> None:
    found = allowance(Scene(), is_strict=True)
    assert found.split([("a", 10**6), ("b", 1)]) == (["a", "b"], [])
    assert found.throttle_ms == 0


def test_strictly_what_the_limit_has_no_room_for_is_refused() -> None:
    scene = Scene()
    scene.limit("controller_mutation_rate", 2.0)
    found = allowance(scene, is_strict=True)
    assert found.split([("a", 20), ("b", 6), ("c", 1)]) == (["a", "b"], ["c"])
    assert found.throttle_ms == 2000


def test_else_it_is_allowed_and_slowed_down() -> None:
    scene = Scene()
    scene.limit("controller_mutation_rate", 2.0, user="alice")
    found = allowance(scene, is_strict=False)
    assert found.split([("a", 20), ("b", 6), ("c", 1)]) == (["a", "b", "c"], [])
    assert found.throttle_ms == 2500
