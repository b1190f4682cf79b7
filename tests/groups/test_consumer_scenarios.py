"""Plays of consumer groups: who says what, and what comes of it, as a text that a human can review.

A line that begins with a verb is said; the lines under it, indented, are written by the machine: what the member owns
now, the group, and what each member holds and still has to give back.
QUIRE_REWRITE_SCENARIOS=1 writes them anew.

  join NAME TOPICS [static]    pattern NAME PATTERN        subscribe NAME TOPICS
  beat NAME                    leave NAME                  away NAME
  topics NAME=COUNT ...        pass SECONDS                reload
  classic NAME [OWNED]         sync NAME                   heartbeat NAME            (of the classic protocol)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.groups.consumer_world import Consumer, ConsumerWorld
from tests.groups.test_consumer_classic import said, synced

from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.consumer_group import ConsumerGroup

SCENARIOS = sorted((Path(__file__).parent / "consumer_scenarios").glob("*.txt"))


class Stage:
    """The players and what they were told."""

    def __init__(self) -> None:
        self.world = ConsumerWorld(orders=4)
        self.consumers: dict[str, Consumer] = {}
        self.generations: dict[str, int] = {}
        self.records = 0

    def say(self, line: str) -> list[str]:
        verb, *words = line.split()
        told = getattr(self, verb)(*words)
        return [*([told] if told else []), *self.state()]

    # --- the new protocol ---------------------------------------------------------------------

    def join(self, name: str, topics: str, *how: str) -> str:
        """A static member has another id each time."""
        instance = name if how else None
        known = self.consumers.get(name)
        member_id = f"{name}'" if known is not None and instance else name
        one = Consumer(self.world, member_id, tuple(topics.split(",")), instance=instance)
        return self.enter(name, one)

    def pattern(self, name: str, pattern: str) -> str:
        return self.enter(name, Consumer(self.world, name, (), topics=None, pattern=pattern))

    def enter(self, name: str, one: Consumer) -> str:
        self.consumers[name] = one
        one.join()
        return self.told(one)

    def subscribe(self, name: str, topics: str) -> str:
        self.consumers[name].subscribe(*topics.split(","))
        return self.told(self.consumers[name])

    def beat(self, name: str) -> str:
        self.consumers[name].beat()
        return self.told(self.consumers[name])

    def leave(self, name: str) -> None:
        self.consumers[name].leave()

    def away(self, name: str) -> None:
        self.consumers[name].go_away()

    def told(self, one: Consumer) -> str:
        if one.error is not ErrorCode.NONE:
            return f"{one.member_id}: {one.error.name}"
        return f"{one.member_id}: epoch {one.epoch}, owns {self.places(one.owned)}"

    # --- the classic one ----------------------------------------------------------------------

    def classic(self, name: str, owned: str = "") -> str:
        numbers = tuple(int(one) for one in owned.split(",") if one)
        protocols = {"cooperative-sticky": said(numbers, self.generations.get(name, -1))}
        ticket = self.world.join(member_id=name, protocols=protocols, session_ms=60_000)
        answer = self.world.answers[ticket]
        if answer.error_code:
            return f"{name}: {ErrorCode(answer.error_code).name}"
        self.generations[name] = answer.generation_id
        return f"{name}: generation {answer.generation_id}"

    def sync(self, name: str) -> str:
        found = synced(self.world, name, self.generations[name])
        return f"{name}: {found.name if isinstance(found, ErrorCode) else found}"

    def heartbeat(self, name: str) -> str:
        return f"{name}: {self.world.heartbeat(name, self.generations[name]).name}"

    # --- the world ----------------------------------------------------------------------------

    def topics(self, *counts: str) -> None:
        self.world.change_topics(
            **{name: int(count) for name, count in (one.split("=") for one in counts)}
        )

    def reload(self) -> None:
        self.world.reload()

    def places(self, held: Mapping[bytes, object]) -> str:
        parts = []
        for topic_id, numbers in sorted(held.items()):
            name = topic_id.decode().lstrip(".")
            parts.append(f"{name} {','.join(str(one) for one in sorted(numbers))}")  # type: ignore[call-overload]
        return " ".join(parts) or "nothing"

    def state(self) -> list[str]:
        found = self.world.machine.find("g")
        written, self.records = self.world.end_offset - self.records, self.world.end_offset
        if isinstance(found, ClassicGroup):
            members = " ".join(found.members)
            return [f"classic {found.state.value} {found.generation}: {members}; {written} written"]
        if not isinstance(found, ConsumerGroup):
            return [f"nothing; {written} written"]
        stored = found.stored
        lines = [
            f"{stored.state.value} {stored.epoch}, target {stored.target_epoch}; {written} written"
        ]
        for member_id in stored.members:
            holding = stored.holding(member_id)
            line = f"  {member_id} {holding.state.name} {holding.epoch}: {self.places(holding.assigned)}"
            if holding.revoking:
                line += f", gives back {self.places(holding.revoking)}"
            lines.append(line)
        return lines


def play(text: str) -> str:
    stage = Stage()
    out = []
    for line in text.splitlines():
        if line.startswith("pass "):
            stage.world.pass_ms(int(float(line.split()[1]) * 1000))
            out += [line, *(f"    {one}" for one in stage.state())]
        elif line.startswith("#") or not line.strip():
            out.append(line)
        elif not line.startswith(" "):
            out += [line, *(f"    {one}" for one in stage.say(line))]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_play_goes_as_it_is_written(path: Path) -> None:
    played = play(path.read_text())
    if os.environ.get("QUIRE_REWRITE_SCENARIOS") == "1":
        path.write_text(played)
    assert played == path.read_text()


def test_there_are_plays() -> None:
    assert SCENARIOS
