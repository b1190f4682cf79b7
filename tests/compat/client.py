"""A client under test: a program that carries out steps and tells what came of each.

It reads one line of JSON, `{"bootstrap": ..., "steps": [{"do": ..., ...}, ...]}`, and writes, as its last line, a list
with `{"ok": value}` or `{"error": code, "words": ...}` for each step. Bytes travel as base64. What the steps are:

  produce         topic, records, codec, idempotent (False), largest (1,000,000)  -> their offsets, in order
                  a record: partition, key, value, headers [[name, value]], timestamp (ms)
  consume         topic, partition, offset, count, committed (False: what is not committed, too)
                                                            -> records with offset, timestamp, key, value, headers
  begin           producer (what the next steps call it), name (transactional id), timeout (60,000 ms)
  transact        producer, topic, records, end ("commit", "abort", "leave" open) -> the records' offsets
  end             producer, end                             what was left open
  topics          -> names          partitions topic -> how many          cluster -> id and the nodes' numbers
  create_topic    topic, partitions, configs
  delete_topic    topic             add_partitions topic, count (all of them)
  config          topic, name -> value       set_config topic, name, value (nothing else of the topic changes)
  offset          topic, partition, at ("earliest", "latest" or milliseconds) -> the offset; -1 for none
  delete_records  topic, partition, offset -> the log's new start
  committed       topic, group, partitions (how many) -> the group's offset in each; -1 for none
  member          topic, group, and for some clients protocol ("classic", "consumer"), instance (a static id), pattern
                  (instead of the topic): reads as a member of the group, from the earliest record on, and commits what
                  it has read, until its input ends; then it leaves. Meanwhile it says, a line each,
                  {"assigned": [partition, ...]} when that changes, {"read": [partition, offset, ...]} before it commits
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RUN_SECONDS = 120
PATIENCE_SECONDS = 15
numbers = itertools.count(1)


def new_name(words: str) -> str:
    return f"{words}-{os.getpid()}-{next(numbers)}"


def eventually(holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether it comes true soon: metadata reaches a broker after the answer that made it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.1)
    return False


@dataclass(frozen=True, slots=True)
class Sent:
    """A record as it is given to a client."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = 1_700_000_000_000
    partition: int = 0

    def told(self) -> dict[str, Any]:
        return {
            "partition": self.partition,
            "key": encoded(self.key),
            "value": encoded(self.value),
            "headers": [[name, encoded(value)] for name, value in self.headers],
            "timestamp": self.timestamp,
        }


@dataclass(frozen=True, slots=True)
class Received:
    """A record as a client gives it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    def same(self, sent: Sent) -> bool:
        mine = (self.timestamp, self.key, self.value, self.headers)
        return mine == (sent.timestamp, sent.key, sent.value, sent.headers)


class StepFailed(Exception):  # noqa: N818 -- an answer that some tests want
    """A step ended with an error of the broker's; `code` is Kafka's number for it."""

    def __init__(self, code: int | None, words: str) -> None:
        super().__init__(f"{code}: {words}")
        self.code = code


@dataclass
class Client:
    """A program and the cluster it works against."""

    command: Sequence[str]
    bootstrap: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *steps: Mapping[str, Any]) -> list[Any]:
        """What each step gave, in one process; the first that fails is raised."""
        asked = json.dumps({"bootstrap": self.bootstrap, "steps": steps})
        done = subprocess.run(
            self.command,
            input=asked + "\n",
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        lines = done.stdout.strip().splitlines()
        assert done.returncode == 0, (
            f"{self.command[0]}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        assert lines, f"the client said nothing; {done.stderr[-4000:]}"
        results = json.loads(lines[-1])
        for result in results:
            if "ok" not in result:
                raise StepFailed(result["error"], f"{result['words']}\n{done.stderr[-1000:]}")
        assert len(results) == len(steps)
        return [result["ok"] for result in results]

    def join(self, topic: str, group: str, **how: str) -> Member:
        """A process that is a member of a group."""
        return Member(self, {"do": "member", "topic": topic, "group": group, **how})

    def do(self, step: str, **given: Any) -> Any:
        return self.run({"do": step, **given})[0]

    def produce(self, topic: str, records: Sequence[Sent], **given: Any) -> list[int]:
        told = [record.told() for record in records]
        offsets: list[int] = self.do("produce", topic=topic, records=told, **given)
        return offsets

    def consume(
        self, topic: str, count: int, *, offset: int = 0, partition: int = 0, **given: Any
    ) -> list[Received]:
        place = {"topic": topic, "partition": partition, "offset": offset}
        found = self.do("consume", **place, count=count, **given)
        return [
            Received(
                one["offset"],
                one["timestamp"],
                decoded(one["key"]),
                decoded(one["value"]),
                tuple((name, decoded(value)) for name, value in one["headers"]),
            )
            for one in found
        ]


class Member:
    """A client that reads as a member of a group, in a process of its own."""

    def __init__(self, client: Client, step: Mapping[str, str]) -> None:
        self.assigned: list[int] | None = None
        self.read: set[tuple[int, int]] = set()
        self._process = subprocess.Popen(
            client.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **client.environment},
            text=True,
        )
        assert self._process.stdin is not None
        asked = json.dumps({"bootstrap": client.bootstrap, "steps": [step]})
        self._process.stdin.write(asked + "\n")
        self._process.stdin.flush()
        self._words: list[str] = []
        self._threads = [
            threading.Thread(target=self._listen), threading.Thread(target=self._overhear)
        ]  # fmt: skip
        for one in self._threads:
            one.start()

    def leave(self) -> None:
        """Let it leave its group, and end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._end(expected=0)

    def kill(self) -> None:
        """End it without a word to anybody."""
        self._process.kill()
        self._end(expected=-9)

    def discard(self) -> None:
        """However it stands with it."""
        if self._process.returncode is None:
            self.kill()

    def freeze(self) -> None:
        """Let it do nothing at all, until it thaws."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _end(self, expected: int) -> None:
        code = self._process.wait(RUN_SECONDS)
        for one in self._threads:
            one.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        assert code == expected, "".join(self._words)[-4000:]

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line[0] not in "{[":
                self._words.append(line)  # its log
                continue
            said = json.loads(line)
            if not isinstance(said, dict):
                continue  # the results of its step, at its end
            if "assigned" in said:
                self.assigned = said["assigned"]
            elif "read" in said:
                partition, *offsets = said["read"]
                self.read.update((partition, offset) for offset in offsets)

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        self._words.extend(self._process.stderr)


def encoded(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def decoded(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)
