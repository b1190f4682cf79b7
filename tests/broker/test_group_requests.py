from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from quire.broker.broker import Broker
from quire.broker.call import LATER, Call, Client
from quire.broker.coordinators import CoordinatorError
from quire.broker.group_requests import Part, caller_of, pass_on, take_apart
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.apis import APIS, ApiKey


class Host:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Any, Any, bool]] = []

    def partition_for(self, key: str) -> int:
        return len(key)

    def submit(
        self, partition: int, request: Any, caller: Any, told: Any, *, writes: bool = True
    ) -> int:
        assert caller.host == "/10.0.0.1"
        self.asked.append((partition, request, told, writes))
        return len(self.asked)


def scene() -> tuple[Broker, Host, Call, list[Any]]:
    host, answers = Host(), list[Any]()
    call = Call(
        APIS[ApiKey.HEARTBEAT],
        4,
        "the request",
        client=Client(Address("10.0.0.1", 1), "PLAINTEXT"),
        client_id=None,
        received_ms=0,
        answer=answers.append,
    )
    return cast("Broker", SimpleNamespace(groups=host)), host, call, answers


def test_groups_remember_where_a_client_is_as_java_writes_it() -> None:
    _, _, call, _ = scene()
    assert caller_of(call) == (4, "", "/10.0.0.1")


def test_a_request_goes_to_its_group_s_partition_and_the_answer_back() -> None:
    broker, host, call, answers = scene()
    assert pass_on(broker, call, "group", lambda code: ("refused", code)) is LATER
    ((partition, request, told, writes),) = host.asked
    assert (partition, request, writes) == (5, "the request", True)
    told("the answer")
    told(CoordinatorError(ErrorCode.NOT_COORDINATOR))
    told(CoordinatorError(ErrorCode.REQUEST_TIMED_OUT))
    assert answers == [
        "the answer",
        ("refused", ErrorCode.NOT_COORDINATOR),
        ("refused", ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ]


def test_parts_are_put_together_in_their_order_when_the_last_is_there() -> None:
    broker, host, call, answers = scene()
    parts = [Part(number, f"part {number}", lambda code: code.name) for number in range(3)]
    assert take_apart(broker, call, parts, tuple) is LATER
    tell = [told for _, _, told, _ in host.asked]
    assert [writes for *_, writes in host.asked] == [False] * 3
    tell[2]("third")
    tell[0]("first")
    assert answers == []
    tell[1](CoordinatorError(ErrorCode.NOT_COORDINATOR))
    assert answers == [("first", "NOT_COORDINATOR", "third")]


def test_nothing_to_ask_is_answered_at_once() -> None:
    broker, host, call, answers = scene()
    assert take_apart(broker, call, [], len) == 0
    assert (host.asked, answers) == ([], [])
