from __future__ import annotations

from tests.tools.scene import asked
from tests.tools.txn.scripts import TOPICS, transactions

from quire.tools.places import Place
from quire.tools.txn.producers import row, writers_into


def test_a_partition_shows_who_writes_into_it() -> None:
    place = Place("orders", (0,))
    found, _ = asked(lambda cluster: writers_into(cluster, place), transactions(), TOPICS)
    assert [row(one) for one in found] == [
        {
            "producer_id": pid,
            "epoch": 2,
            "last_sequence": 4,
            "last_time": "1970-01-01T02:46:35.000Z",
            "coordinator_epoch": 3,
            "open_since_offset": begins,
        }
        for pid, begins in ((7, 16), (8, None))
    ]
    assert row(found[0]._replace(coordinator_epoch=-1))["coordinator_epoch"] is None
