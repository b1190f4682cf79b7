from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.tools.group.scripts import TOPICS, A, B, commits, committed, described, group, member
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.clients.offsets import EARLIEST
from quire.errors import ErrorCode
from quire.protocol.messages.offset_commit import OffsetCommitRequest
from quire.tools.asking import SettingError
from quire.tools.group import reset as command
from quire.tools.group.reset import InUseError, reset
from quire.tools.group.targets import Target, Way
from quire.tools.main import quire
from quire.tools.places import Place
from quire.types import TopicPartition

BEGINNING = Target(Way.TIME, EARLIEST)


def done(*places: Place, target: Target = BEGINNING, execute: bool = False, **changed):
    return asked(
        lambda cluster: reset(cluster, "g", places, target, execute=execute),
        group(**changed),
        TOPICS,
    )


def written(requests) -> list[tuple[int, int]]:
    return [
        (one.partition_index, one.committed_offset)
        for request in requests
        if isinstance(request, OffsetCommitRequest)
        for topic in request.topics
        for one in topic.partitions
    ]


def test_what_would_be_is_shown_and_nothing_is_written() -> None:
    found, requests = done()
    assert found[0] == {
        "topic": "orders", "partition": 0, "before": 40, "after": 10, "end": 100,
        "lag_before": 60, "lag_after": 90,
    }  # fmt: skip
    assert [(one["before"], one["after"]) for one in found] == [(40, 10), (20, 0)]
    assert written(requests) == []


def test_when_it_is_done_all_offsets_are_committed_as_nobody_in_particular() -> None:
    _, requests = done(execute=True)
    assert written(requests) == [(0, 10), (1, 0)]
    (request,) = [one for one in requests if isinstance(one, OffsetCommitRequest)]
    assert (request.member_id, request.generation_id_or_member_epoch) == ("", -1)


def test_only_what_was_named_moves_committed_before_or_not() -> None:
    found, requests = done(Place("orders", (1,)), OFFSET_FETCH=committed({A: 40}), execute=True)
    assert [(one["partition"], one["before"]) for one in found] == [(1, None)]
    assert written(requests) == [(1, 0)]


def test_a_list_moves_what_it_lists() -> None:
    listed = Target(Way.LISTED, listed={TopicPartition(*A): 77, TopicPartition(*B): 1})
    _, requests = done(target=listed, execute=True)
    assert written(requests) == [(0, 77), (1, 1)]
    _, requests = done(Place("orders", (0,)), target=listed, execute=True)
    assert written(requests) == [(0, 77)]


def test_a_group_with_members_is_left_alone_and_they_are_named() -> None:
    members = [member(f"m{number}") for number in range(7)]
    with pytest.raises(InUseError, match=r"stop them first: m0 \(client-m0, .* and 2 more$"):
        done(DESCRIBE_GROUPS=described(members), execute=True)


def test_a_group_that_is_not_there_is_made_when_a_topic_is_named() -> None:
    nobody = {"DESCRIBE_GROUPS": described(error=69), "OFFSET_FETCH": committed({})}
    with pytest.raises(SettingError, match="--topic names a topic"):
        done(**nobody)
    _, requests = done(Place("orders"), execute=True, **nobody)
    assert written(requests) == [(0, 10), (1, 0)]


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AnswerError, match="topic nope: UNKNOWN_TOPIC_OR_PARTITION"):
        done(Place("nope"))
    with pytest.raises(SettingError, match="topic orders has no partition 7"):
        done(Place("orders", (0, 7)))


def test_a_refusal_names_the_partition() -> None:
    refused = commits(ErrorCode.UNKNOWN_MEMBER_ID)
    with pytest.raises(AnswerError, match="offset of group g in orders-0: UNKNOWN_MEMBER_ID"):
        done(execute=True, OFFSET_COMMIT=refused)


def test_the_command_says_whether_it_did_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"topic": "orders", "before": 4, "after": 0}]
    monkeypatch.setattr(command, "asked", lambda _bootstrap, _question: rows)
    shown = CliRunner().invoke(quire, ["group", "reset", "g", "--to-earliest"]).output
    assert "nothing was changed yet: --execute does it" in shown
    shown = CliRunner().invoke(quire, ["group", "reset", "g", "--by", "-4", "--execute"]).output
    assert shown.endswith("done\n")
    for_programs = ["group", "reset", "g", "--to-latest", "--format", "json"]
    assert json.loads(CliRunner().invoke(quire, for_programs).output) == rows
