from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import create_partitions as growing


def grow(*counts: tuple[str, int], **more: bool | int) -> growing.CreatePartitionsRequest:
    values: dict[str, bool | int] = {"timeout_ms": 1000, "validate_only": False}
    return growing.CreatePartitionsRequest(
        topics=[
            growing.CreatePartitionsTopic(name=name, count=count, assignments=None)
            for name, count in counts
        ],
        **(values | more),
    )


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows_in_every_version(version: int) -> None:
    scene = Scene()
    scene.topic("a")
    (result,) = scene.ask(grow(("a", 4)), version).results
    assert (result.name, result.error_code) == ("a", ErrorCode.NONE)
    assert len(scene.world.image.topics["a"].partitions) == 4


def test_validate_only_and_no_time_change_nothing() -> None:
    scene = Scene()
    scene.topic("a")
    (fine,) = scene.ask(grow(("a", 4), validate_only=True)).results
    assert fine.error_code == ErrorCode.NONE
    (late,) = scene.ask(grow(("a", 4), timeout_ms=0)).results
    assert late.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert len(scene.world.image.topics["a"].partitions) == 1


@pytest.mark.parametrize(("version", "is_refused"), [(2, False), (3, True)])
def test_who_is_over_the_limit_is_refused_or_slowed_down(version: int, is_refused: bool) -> None:
    scene = Scene()
    scene.topic("a")
    scene.topic("b")
    scene.limit("controller_mutation_rate", 1.0)
    response = scene.ask(grow(("nobody", 90), ("a", 13), ("b", 3)), version)
    codes = {one.name: one.error_code for one in response.results}
    assert codes == {
        "nobody": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "a": ErrorCode.NONE,
        "b": ErrorCode.THROTTLING_QUOTA_EXCEEDED if is_refused else ErrorCode.NONE,
    }
    assert response.throttle_time_ms == (1000 if is_refused else 3000)
