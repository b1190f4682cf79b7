from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.tools.group.scripts import group
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.messages import delete_groups as deleting
from quire.protocol.messages import offset_delete as forgetting
from quire.tools.asking import SettingError
from quire.tools.group import delete as command
from quire.tools.group.delete import delete, forget
from quire.tools.main import quire
from quire.tools.places import Place


def deletes(**codes: int):
    def answer(request, _version):
        (name,) = request.groups_names
        result = deleting.DeletableGroupResult(group_id=name, error_code=codes.get(name, 0))
        return deleting.DeleteGroupsResponse(throttle_time_ms=0, results=[result])

    return answer


def forgets(error: int = 0, *, whole: int = 0):
    def answer(request, _version):
        topics = [
            forgetting.OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    forgetting.OffsetDeleteResponsePartition(
                        partition_index=one.partition_index, error_code=error
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return forgetting.OffsetDeleteResponse(error_code=whole, throttle_time_ms=0, topics=topics)

    return answer


def test_all_are_tried_before_a_refusal_is_told_in_plain_words() -> None:
    scripts = group(DELETE_GROUPS=deletes(b=ErrorCode.NON_EMPTY_GROUP))
    with pytest.raises(AnswerError, match="group b: NON_EMPTY_GROUP: it has members"):
        asked(lambda cluster: delete(cluster, ("b", "a")), scripts)
    found, requests = asked(lambda cluster: delete(cluster, ("a",)), scripts)
    assert found == [{"group": "a", "deleted": True}]
    assert requests[-1].groups_names == ["a"]


def test_offsets_of_a_topic_are_forgotten_where_there_are_some() -> None:
    scripts = group(OFFSET_DELETE=forgets())
    found, requests = asked(
        lambda cluster: forget(cluster, "g", (Place("orders", (1, 2)),)), scripts
    )
    assert [(one["topic"], one["partition"]) for one in found] == [("orders", 1)]
    (topic,) = requests[-1].topics
    assert [one.partition_index for one in topic.partitions] == [1]
    with pytest.raises(SettingError, match="no committed offsets there"):
        asked(lambda cluster: forget(cluster, "g", (Place("audit"),)), scripts)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (forgets(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC), "orders-0: .* read this topic"),
        (forgets(whole=ErrorCode.NON_EMPTY_GROUP), "group g: .* it has members"),
    ],
)
def test_who_still_reads_keeps_its_offsets(answer, words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        asked(lambda cluster: forget(cluster, "g", (Place("orders"),)), group(OFFSET_DELETE=answer))


def test_nothing_is_deleted_without_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def asked_of(_bootstrap: object, question: object) -> list[dict[str, object]]:
        calls.append(question)
        return [{"group": "g", "deleted": True}]

    monkeypatch.setattr(command, "asked", asked_of)
    refused = CliRunner().invoke(quire, ["group", "delete", "g"], input="n\n")
    assert (refused.exit_code, calls) == (1, [])
    done = CliRunner().invoke(quire, ["group", "delete", "g", "-y"])
    assert done.output == "group g deleted\n"
    told = CliRunner().invoke(quire, ["group", "delete", "g", "-y", "--format", "json"])
    assert json.loads(told.output) == [{"group": "g", "deleted": True}]
