from __future__ import annotations

from tests.tools.scene import asked

from quire.protocol.apis import ApiKey
from quire.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from quire.tools.group.list import rows


def answer(_request, _version):
    groups = [
        ListedGroup(group_id=name, protocol_type=kind, group_state=state, group_type="Classic")
        for name, kind, state in (("b", "consumer", "Stable"), ("a", "", "Empty"))
    ]
    return ListGroupsResponse(error_code=0, groups=groups)


def test_groups_are_listed_by_name_and_the_filters_are_the_brokers() -> None:
    found, (request,) = asked(
        lambda cluster: rows(cluster, ("Stable", "Empty"), ("classic",)),
        {ApiKey.LIST_GROUPS: answer},
    )
    assert found == [
        {"group": "a", "state": "Empty", "type": "classic", "protocol": None, "coordinator": 1},
        {"group": "b", "state": "Stable", "type": "classic", "protocol": "consumer",
         "coordinator": 1},
    ]  # fmt: skip
    assert request.states_filter == ["Stable", "Empty"]
    assert request.types_filter == ["classic"]
