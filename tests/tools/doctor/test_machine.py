from __future__ import annotations

from pathlib import Path

import pytest

from quire.ports.network import Address
from quire.sim import loop
from quire.sim.entropy import SeededEntropy
from quire.sim.network import SimNetwork
from quire.tools.doctor.findings import Finding, Level
from quire.tools.doctor.machine import examine_machine
from quire.tools.local import make_or_find


def settings_of(directory: Path) -> dict[str, str]:
    """A formatted node's."""
    cluster = make_or_find(str(directory / "c"), host="127.0.0.1", port=None, settings={})
    return cluster.nodes[0].settings()


def examined(
    static: dict[str, str], *, is_running: bool = True, taken: int | None = None
) -> list[Finding]:
    async def scene() -> list[Finding]:
        door = SimNetwork(SeededEntropy(1)).machine("127.0.0.1")
        if taken is not None:
            door.listen(Address("127.0.0.1", taken), lambda _stream: pytest.fail("nobody comes"))
        return examine_machine(static, door, is_running=is_running)

    return [one for one in loop.run(scene) if one.subject not in ("kernels", "limits")]


def test_a_formatted_node_with_free_ports_is_fine(tmp_path: Path) -> None:
    found = examined(settings_of(tmp_path), is_running=False)
    assert [one for one in found if one.level is Level.WRONG] == []
    assert [one.subject for one in found].count("listeners") == 2


def test_a_port_that_somebody_has_is_named(tmp_path: Path) -> None:
    static = settings_of(tmp_path)
    port = int(static["listeners"].split(",")[0].rpartition(":")[2])
    found = examined(static, is_running=False, taken=port)
    (one,) = [one for one in found if one.level is Level.WRONG]
    assert one.subject == "listeners"
    assert f"PLAINTEXT://127.0.0.1:{port} cannot be opened" in one.text


@pytest.mark.parametrize(
    ("name", "value", "subject"),
    [
        ("num.partitions", "0", "num.partitions"),
        ("process.roles", "broker", "listeners"),
        ("log.dirs", "/nowhere/at/all", "/nowhere/at/all"),
        ("node.id", "7", "log.dirs"),
    ],
)
def test_a_setting_at_fault_is_named(tmp_path: Path, name: str, value: str, subject: str) -> None:
    static = {**settings_of(tmp_path), name: value}
    faults = [one for one in examined(static) if one.level is Level.WRONG]
    assert subject in {one.subject for one in faults}
    assert all(one.remedy for one in faults)


def test_a_directory_that_was_never_formatted_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    static = {**settings_of(tmp_path), "log.dirs": str(tmp_path / "empty")}
    (one,) = [one for one in examined(static) if one.level is Level.WRONG]
    assert (one.subject, one.text) == (str(tmp_path / "empty"), "is not formatted")


def test_a_setting_that_nobody_knows_is_a_warning(tmp_path: Path) -> None:
    static = {**settings_of(tmp_path), "log.retention.hour": "1"}
    (one,) = [one for one in examined(static) if one.level is Level.WARNING]
    assert one.subject == "log.retention.hour"
