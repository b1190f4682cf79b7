"""Programs that work beside a test until they are told to end."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

END_SECONDS = 60


class Program:
    """A process that says a line of JSON now and then; it ends when its input does."""

    def __init__(self, command: Sequence[str]) -> None:
        self.said: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._words: list[str] = []
        self._threads = [
            threading.Thread(target=self._listen), threading.Thread(target=self._overhear)
        ]  # fmt: skip
        for one in self._threads:
            one.start()

    def latest(self, name: str) -> int:
        """What it said last under this name; 0 before it said anything."""
        return next((int(one[name]) for one in reversed(self.said) if name in one), 0)

    def check(self) -> None:
        """It runs still."""
        assert self._process.poll() is None, self.words()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._gone(expected=0)

    def kill(self) -> None:
        """Without a word to anybody."""
        self._process.send_signal(signal.SIGKILL)
        self._gone(expected=-signal.SIGKILL)

    def words(self) -> str:
        return f"{self.said[-10:]}\n{''.join(self._words)[-4000:]}"

    def discard(self) -> None:
        """However it stands with it."""
        if self._process.returncode is None:
            self._process.kill()
            self._gone(expected=None)

    def _gone(self, expected: int | None) -> None:
        code = self._process.wait(END_SECONDS)
        for one in self._threads:
            one.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        assert expected is None or code == expected, f"{code}\n{self.words()}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self.said.append(json.loads(line))
            else:
                self._words.append(line)  # its log

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        self._words.extend(self._process.stderr)
