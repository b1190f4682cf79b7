"""Asks both systems the same, in the same order, and keeps where their answers differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from tests.compat.differential.answers import Known, differences, shown
from tests.compat.differential.case import Case, Frames
from tests.compat.differential.conversation import Conversation
from tests.compat.differential.corpus import PARTS, Part
from tests.interop.kafka import Kafka
from tests.interop.quire_node import QuireNode

from quire.protocol.messages.find_coordinator import FindCoordinatorRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.list_groups import ListGroupsRequest


class Found(NamedTuple):
    """One smallest difference."""

    question: str
    """`part | label | version`."""
    where: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.question} | {self.where}: Quire {self.ours}, Kafka {self.theirs}"


class Comparison(NamedTuple):
    """What came of it."""

    questions: int
    found: list[Found]


class System:
    """One of the two, by both its listeners."""

    def __init__(self, server: Kafka | QuireNode) -> None:
        self.broker = Conversation(server.port)
        self.controller = Conversation(server.controller_port)
        self._data = str(server.data)
        self._names: dict[bytes, str] = {}

    def settle(self) -> None:
        """Let the broker see what the controller has committed, and learn the ids that it gave."""
        self.broker.settle()
        self._names.update(self.broker.learn_ids())
        self.controller.take_ids(self.broker)

    def listener(self, part: Part) -> Conversation:
        return self.controller if part.by_controller else self.broker

    def shown(self, answer: object) -> object:
        return shown(answer, Known(self._names, self._data))

    def warm_up(self) -> None:
        """Wait until it gives out producer ids, which it has from its controller, and coordinates groups."""
        asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1)
        while self.broker.ask(asked, 4).error_code:
            pass
        find = FindCoordinatorRequest(coordinator_keys=["g"])
        while self.broker.ask(find, 4).coordinators[0].error_code:
            pass
        while self.broker.ask(ListGroupsRequest(), 4).error_code:
            pass

    def hang_up(self) -> None:
        self.broker.hang_up()
        self.controller.hang_up()


def compare(directory: Path, parts: Sequence[Part] = PARTS) -> Comparison:
    """Start both, ask everything, stop both."""
    kafka, quire = Kafka(directory / "kafka"), QuireNode(directory / "quire")
    found: list[Found] = []
    questions = 0
    with ExitStack() as stack:
        for server in (kafka, quire):
            server.format()
            stack.enter_context(server.running())
        systems = [System(quire), System(kafka)]
        for one in systems:
            stack.callback(one.hang_up)
            one.settle()
            one.warm_up()
        for part in parts:
            for question in part.questions:
                asked = _ask(systems, part, question)
                for number, differing in asked:
                    questions += number
                    found += differing
    return Comparison(questions, found)


def _ask(
    systems: list[System], part: Part, question: Case | Frames
) -> Iterator[tuple[int, list[Found]]]:
    if isinstance(question, Frames):
        ours, theirs = (
            one.listener(part).send_bytes(question.sent, hangs_up=question.hangs_up)
            for one in systems
        )
        name = f"{part.name} | {question.label} | bytes"
        yield 1, [Found(name, "", ours, theirs)] if ours != theirs else []
        return
    for version, request in question.questions():
        answers = [one.listener(part).ask(request, version) for one in systems]
        if part.settles:
            for one in systems:
                one.settle()
        ours, theirs = (one.shown(answer) for one, answer in zip(systems, answers, strict=True))
        name = f"{part.name} | {question.label} | v{version}"
        yield 1, [Found(name, *one) for one in differences(ours, theirs)]
