"""Plays: what is said to a group, and what comes of it, as a text that a human can review.

A line that begins with a verb is said; the lines under it, indented, are written by the machine.
QUIRE_REWRITE_SCENARIOS=1 writes them anew.

  join NAME [static] [range,sticky]      sync NAME [SHARES by name]     heartbeat NAME     leave NAME
  commit NAME OFFSET                     transact OFFSET                end commit|abort
  pass SECONDS                           reload                         fetch [stable]
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.groups.world import World

from quire.coordination import Producer
from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))
PRODUCER = Producer(7, 0)


class Stage:
    """The players and what they were told."""

    def __init__(self) -> None:
        self.world = World()
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.waiting: dict[int, tuple[str, str]] = {}
        """Tickets: who asked, and what."""
        self.records = 0

    def say(self, line: str) -> list[str]:
        verb, *words = line.split()
        getattr(self, verb)(*words)
        return [*self.heard(), self.state()]

    def join(self, name: str, *how: str) -> None:
        instance = name if "static" in how else None
        spoken = [one for one in how if one != "static"] or ["range"]
        protocols = dict.fromkeys(spoken[0].split(","), b"")
        member_id = "" if instance else self.ids.get(name, "")
        ticket = self.world.join(
            "g", member_id, instance=instance, protocols=protocols, client=name
        )
        self.waiting[ticket] = name, "join"

    def sync(self, name: str, *shares: str) -> None:
        plan = {self.ids[one[0]]: one[1:].encode() for one in shares}
        ticket = self.world.sync(self.ids[name], self.generations[name], plan)
        self.waiting[ticket] = name, "sync"

    def heartbeat(self, name: str) -> None:
        self.tell(name, "heartbeat", self.world.heartbeat(self.ids[name], self.generations[name]))

    def leave(self, name: str) -> None:
        self.tell(name, "leave", self.world.leave((self.ids[name], None))[0])

    def commit(self, name: str, offset: str) -> None:
        code = self.world.commit(
            int(offset), member_id=self.ids[name], generation=self.generations[name]
        )
        self.tell(name, "commit", code)

    def transact(self, offset: str) -> None:
        self.tell("tx", "commit", self.world.commit_in(PRODUCER, int(offset)))

    def end(self, how: str) -> None:
        self.world.end(PRODUCER, committed=how == "commit")

    def fetch(self, *how: str) -> None:
        (found,) = self.world.fetched(stable="stable" in how)
        text = found.name if isinstance(found, ErrorCode) else str(found)
        self.lines.append(f"offset {text}")

    def reload(self) -> None:
        self.world.reload()
        self.waiting.clear()

    lines: list[str]

    def tell(self, name: str, what: str, code: ErrorCode) -> None:
        self.lines.append(f"{name} {what}: {code.name}")

    def heard(self) -> list[str]:
        """What players were told since they were last heard."""
        lines, self.lines = self.lines, []
        for ticket, (name, what) in list(self.waiting.items()):
            if ticket not in self.world.answers:
                continue
            answer = self.world.answers[ticket]
            del self.waiting[ticket]
            lines.append(f"{name} {what}: {self.told(name, what, answer)}")
        return lines

    def told(self, name: str, what: str, answer: Any) -> str:
        code = ErrorCode(answer.error_code)
        if what == "join" and answer.member_id:
            self.ids[name] = answer.member_id
        if code is not ErrorCode.NONE:
            return code.name
        if what == "sync":
            return f"share {answer.assignment.decode() or 'of nothing'}"
        self.generations[name] = answer.generation_id
        role = f"leads {len(answer.members)}" if answer.members else "follows"
        return f"generation {answer.generation_id}, {answer.protocol_name}, {role}"

    def state(self) -> str:
        group = self.world.machine.find("g")
        written, self.records = self.world.end_offset - self.records, self.world.end_offset
        if not isinstance(group, ClassicGroup):
            return f"nothing; {written} written"
        names = {member_id: name for name, member_id in self.ids.items()}
        members = " ".join(names.get(one, "?") for one in group.members) or "nobody"
        return f"{group.state.value} {group.generation}: {members}; {written} written"


def play(text: str) -> str:
    stage = Stage()
    stage.lines = []
    out = []
    for line in text.splitlines():
        if line.startswith("pass "):
            stage.world.pass_ms(int(float(line.split()[1]) * 1000))
            out += [line, *(f"    {one}" for one in [*stage.heard(), stage.state()])]
        elif line.startswith("#") or not line.strip():
            out.append(line)
        elif not line.startswith(" "):
            out += [line, *(f"    {one}" for one in stage.say(line))]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_play_goes_as_it_is_written(path: Path) -> None:
    text = path.read_text()
    played = play(text)
    if os.environ.get("QUIRE_REWRITE_SCENARIOS") == "1":
        path.write_text(played)
    assert played == path.read_text()


def test_there_are_plays() -> None:
    assert SCENARIOS
