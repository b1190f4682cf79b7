"""tools.doctor.group: a scripted coordinator and partitions, each group stuck in one way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.clients.peer import Peer, Script, metadata, network
from tests.tools.group.scripts import (
    TOPICS,
    A,
    B,
    committed,
    coordinator,
    described,
    group,
    logs,
    member,
)
from tests.tools.txn import scripts as txn

from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.sim import loop
from quire.tools.doctor.findings import Finding, Level
from quire.tools.doctor.group import examine_group
from quire.tools.places import Place

BROKER = Address("one", 9092)


def in_turn(*scripts: Script) -> Script:
    """The first answer from the first script, the second from the second; the last one stays."""
    left = list(scripts)

    def answer(request: Any, version: int) -> Any:
        script = left.pop(0) if len(left) > 1 else left[0]
        return script(request, version)

    return answer


WORKING = {
    "DESCRIBE_GROUPS": described([member("m", A), member("n", B)]),
    "OFFSET_FETCH": committed({A: 100, B: 20}),
}


def examined(*places: Place, topics: Any = TOPICS, **changed: Script) -> list[Finding]:
    async def scene() -> list[Finding]:
        world = network()
        scripts = {
            **txn.transactions(),
            **group(**{**WORKING, **changed}),
            ApiKey.METADATA: metadata({1: BROKER}, topics),
        }
        Peer(world, BROKER, scripts)
        machine = world.machine("client")
        return await examine_group(machine, [BROKER], "g", places, pause_seconds=6.0)

    return loop.run(scene)


def faults(found: Sequence[Finding]) -> list[Finding]:
    assert all(one.remedy for one in found if one.level is not Level.FINE)
    return [one for one in found if one.level is not Level.FINE]


def the_one(found: Sequence[Finding]) -> tuple[Level, str, str]:
    (one,) = faults(found)
    return one[:3]


def test_a_group_that_has_read_everything_is_fine() -> None:
    found = examined()
    assert faults(found) == []
    assert [one.subject for one in found] == ["coordinator", "members", "lag"]


def test_a_group_that_gets_on_is_told_when_it_will_have_caught_up() -> None:
    moving = in_turn(committed({A: 40, B: 20}), committed({A: 70, B: 20}))
    found = examined(OFFSET_FETCH=moving)
    assert faults(found) == []
    assert found[-1].text == "30 records, 5 a second are read: about 6 s, if nothing new came"


def test_one_that_falls_behind_is_warned_of() -> None:
    found = examined(
        OFFSET_FETCH=in_turn(committed({A: 40}), committed({A: 70})),
        DESCRIBE_GROUPS=described([member("m", A)]),
        LIST_OFFSETS=in_turn(*[logs({A: (0, 100)})] * 2, logs({A: (0, 400)})),
    )
    assert the_one(found) == (
        Level.WARNING,
        "lag",
        "330 records, 5 a second are read, and it grows",
    )


@pytest.mark.parametrize(
    ("answer", "subject", "words"),
    [
        ({"DESCRIBE_GROUPS": described(error=69)}, "group g", "is not there"),
        (
            {"FIND_COORDINATOR": coordinator(*[ErrorCode.COORDINATOR_NOT_AVAILABLE] * 999)},
            "coordinator",
            "is absent: nobody coordinates the group",
        ),
        (
            {"DESCRIBE_GROUPS": described(error=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)},
            "coordinator",
            "still reads its part of __consumer_offsets",
        ),
        (
            {"DESCRIBE_GROUPS": described(error=ErrorCode.GROUP_AUTHORIZATION_FAILED)},
            "group g",
            "GROUP_AUTHORIZATION_FAILED",
        ),
    ],
)
def test_who_cannot_be_asked_is_the_finding(
    answer: dict[str, Script], subject: str, words: str
) -> None:
    level, about, text = the_one(examined(**answer))
    assert (level, about) == (Level.WRONG, subject)
    assert words in text


def test_a_cluster_that_does_not_answer_is_the_finding() -> None:
    async def scene() -> list[Finding]:
        world = network()
        world.machine("one")
        return await examine_group(world.machine("client"), [BROKER], "g", pause_seconds=1.0)

    assert the_one(loop.run(scene))[1] == "group g"


def test_records_that_nobody_reads() -> None:
    nobody = {"DESCRIBE_GROUPS": described(), "OFFSET_FETCH": committed({A: 40})}
    level, subject, text = the_one(examined(**nobody))
    assert (level, subject) == (Level.WRONG, "members")
    assert text == "none: 60 records wait and nobody reads"
    nothing_left = examined(DESCRIBE_GROUPS=described())
    assert faults(nothing_left) == []


def test_members_that_wait_for_one_another() -> None:
    waiting = described([member("m", A)], state="PreparingRebalance")
    assert the_one(examined(DESCRIBE_GROUPS=waiting))[:2] == (Level.WRONG, "members")
    for_a_moment = in_turn(waiting, WORKING["DESCRIBE_GROUPS"])
    level, _, text = the_one(examined(DESCRIBE_GROUPS=for_a_moment))
    assert level is Level.WARNING
    assert "new: n (client-n, 10.0.0.1)" in text


def test_a_member_that_was_expelled_between_the_looks() -> None:
    after = described([member("m", A, B)])
    level, _, text = the_one(examined(DESCRIBE_GROUPS=in_turn(WORKING["DESCRIBE_GROUPS"], after)))
    assert (level, text) == (
        Level.WARNING,
        "changed within seconds; gone: n (client-n, 10.0.0.1)",
    )


def test_more_members_than_partitions() -> None:
    more = described([member("m", A), member("n", B), *(member(f"i{i}") for i in range(7))])
    (one,) = faults(examined(DESCRIBE_GROUPS=more))
    assert (one.level, one.subject) == (Level.WARNING, "members")
    assert one.text.startswith("7 of 9 have nothing to read: i0 ")
    assert one.text.endswith(" and 2 more")
    assert "have 2 partitions" in one.remedy


@pytest.mark.parametrize(
    ("offset", "words", "remedy"),
    [
        (4, "6 records were deleted before they were read: committed 4, but the log begins at 10",
         "quire group reset g --topic orders:0 --to-earliest"),
        (150, "committed 150, but the log ends at 100", "--to-latest"),
    ],
)  # fmt: skip
def test_offsets_outside_of_the_log(offset: int, words: str, remedy: str) -> None:
    found = [
        one
        for one in faults(examined(OFFSET_FETCH=committed({A: offset, B: 20})))
        if one.subject == "orders-0"
    ]
    assert [one.level for one in found] == [Level.WRONG]
    assert words in found[0].text
    assert remedy in found[0].remedy


def test_partitions_without_a_leader_or_without_a_commit() -> None:
    found = faults(examined(topics={"orders": {0: 1, 1: -1}}))
    assert [(one.level, one.subject) for one in found] == [(Level.WRONG, "orders-1")]
    assert "has no leader" in found[0].text
    found = faults(examined(OFFSET_FETCH=committed({A: 100})))
    assert [one[:3] for one in found] == [
        (Level.WARNING, "orders-1", "nothing has ever been committed")
    ]


def held_at(last_stable: int, offset: int, **changed: Script) -> Finding:
    found = faults(
        examined(
            Place("orders", (0,)),
            LIST_OFFSETS=logs({A: (0, 100)}, stable={A: last_stable}),
            OFFSET_FETCH=committed({A: offset}),
            **changed,
        )
    )
    (one,) = [one for one in found if one.subject == "orders-0"]
    return one


def test_an_open_transaction_that_holds_readers_back_is_named_with_its_owner() -> None:
    one = held_at(16, 16)
    assert one.level is Level.WRONG
    assert one.text == (
        "readers of committed data stop at 16: producer 7 has a transaction open as t since "
        "1970-01-01T02:46:35.000Z (Ongoing)"
    )
    assert "60 s after it began" in one.remedy
    assert held_at(16, 5).level is Level.WARNING, "it is not there yet"


def test_a_hanging_transaction_is_told_with_what_ends_it() -> None:
    one = held_at(16, 16, LIST_TRANSACTIONS=txn.listed())
    assert "it hangs" in one.text
    assert one.remedy == "`quire txn abort orders:0 --producer-id 7`"
    one = held_at(16, 16, DESCRIBE_TRANSACTIONS=txn.transaction("Empty", partitions=()))
    assert "it hangs" in one.text
    one = held_at(16, 16, DESCRIBE_PRODUCERS=txn.producers([]))
    assert "has just ended" in one.text


def test_commits_that_stand_still_while_the_log_grows() -> None:
    still = {"OFFSET_FETCH": committed({A: 40}), "DESCRIBE_GROUPS": described([member("m", A)])}
    level, subject, text = the_one(examined(**still))
    assert (level, subject) == (Level.WARNING, "commits")
    assert text == "nothing was committed for 6 s: orders-0 at 40 (60 left, 0 new)"
    growing = in_turn(*[logs({A: (0, 100)})] * 2, logs({A: (0, 130)}))
    level, _, text = the_one(examined(LIST_OFFSETS=growing, **still))
    assert level is Level.WRONG
    assert "(90 left, 30 new)" in text


def test_only_what_was_named_is_looked_at() -> None:
    found = examined(Place("orders", (1,)), OFFSET_FETCH=committed({A: 4, B: 20}))
    assert faults(found) == []
