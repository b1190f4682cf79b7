from __future__ import annotations

import pytest
from tests.tools.group.scripts import TOPICS, A, B, committed, group
from tests.tools.scene import asked

from quire.clients.errors import AnswerError
from quire.tools.group.export import as_csv, exported
from quire.tools.group.targets import read_offsets
from quire.tools.places import Place
from quire.types import TopicPartition


def test_what_is_written_down_is_what_a_reset_reads() -> None:
    found, _ = asked(lambda cluster: exported(cluster, "g", ()), group(), TOPICS)
    assert as_csv(found) == "orders,0,40\norders,1,20\n"
    assert read_offsets(as_csv(found).splitlines()) == found
    assert found == {TopicPartition(*A): 40, TopicPartition(*B): 20}


def test_nothing_to_write_down_is_an_error() -> None:
    with pytest.raises(AnswerError, match="no committed offsets there"):
        asked(lambda cluster: exported(cluster, "g", (Place("x"),)), group(), TOPICS)
    with pytest.raises(AnswerError, match="group g"):
        asked(lambda cluster: exported(cluster, "g", ()), group(OFFSET_FETCH=committed({})))
