from __future__ import annotations

from tests.tools.group.scripts import TOPICS, A, described, group, member
from tests.tools.scene import asked

from quire.tools.group.describe import describe
from quire.tools.places import Place


def test_a_group_is_told_with_its_members_and_how_far_behind_it_is() -> None:
    scripts = group(DESCRIBE_GROUPS=described([member("m", A), member("idle")]))
    found, _ = asked(lambda cluster: describe(cluster, "g", (), 61_040), scripts, TOPICS)
    assert (found["state"], found["protocol"]) == ("Stable", "range")
    assert (found["lag"], found["lag_seconds"]) == (60, 60.0)
    assert [(one["member"], one["has"]) for one in found["members"]] == [
        ("m", ["orders-0"]),
        ("idle", []),
    ]
    assert [one["partition"] for one in found["partitions"]] == [0, 1]


def test_only_what_was_named_is_shown_and_counted() -> None:
    places = (Place("orders", (1,)),)
    found, _ = asked(lambda cluster: describe(cluster, "g", places, 0), group(), TOPICS)
    assert [one["partition"] for one in found["partitions"]] == [1]
    assert (found["lag"], found["lag_seconds"]) == (0, 0.0)
