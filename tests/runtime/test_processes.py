from __future__ import annotations

import socket
import sys
from pathlib import Path

from quire.runtime.processes import Process, free_port, start_detached, this_process

SLEEP = [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)"]


def test_a_detached_process_is_known_until_it_ends(tmp_path: Path) -> None:
    output = tmp_path / "output"
    process = start_detached(SLEEP, str(output))
    assert process.is_running
    assert not process.wait(0.01)
    process.ask_to_stop()
    assert process.wait(10)
    process.ask_to_stop()
    process.end_now()
    assert not process.is_running


def test_what_it_says_is_added_to_its_file(tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.write_text("before\n")
    process = start_detached([sys.executable, "-c", "print('after')"], str(output))
    assert process.wait(10)
    assert output.read_text() == "before\nafter\n"


def test_a_number_that_was_given_again_is_somebody_else() -> None:
    me = this_process()
    assert me.is_running
    assert not Process(me.pid, "another time").is_running
    assert not Process(2**22 + 1, me.started).is_running


def test_a_free_port_is_any_or_the_wanted_one() -> None:
    port = free_port("127.0.0.1")
    assert port is not None
    assert port < 32_768, "connections are given none of these"
    assert free_port("127.0.0.1", wanted=port) == port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert free_port("127.0.0.1", wanted=taken.getsockname()[1]) is None
