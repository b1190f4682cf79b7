"""The transaction index: written only when there is something, searched by the marker's offset."""

import pytest

from quire.errors import CorruptIndexError
from quire.sim.disk import SimDisk
from quire.storage.file_names import SegmentPlace
from quire.storage.transaction_index import AbortedTransaction, TransactionIndex


@pytest.fixture
def place():
    disk = SimDisk()
    disk.make_directory("/d")
    return SegmentPlace(disk, "/d", 10)


STORY = [AbortedTransaction(1, 10, 15, 16), AbortedTransaction(2, 5, 20, 21)]


def test_entries_come_back_in_the_order_of_their_markers(place):
    index = TransactionIndex(place)
    assert not place.disk.exists(place.path(".txnindex"))
    for aborted in STORY:
        index.append(aborted)
    index.entries.spill()
    again = TransactionIndex(place)
    again.check()
    assert list(again) == STORY
    assert list(again.from_offset(16)) == STORY[1:]
    assert place.disk.stat(place.path(".txnindex")).size == 68
    again.truncate_to(20)
    assert list(again) == STORY[:1]


def test_a_marker_before_the_segment_is_refused(place):
    index = TransactionIndex(place)
    index.append(AbortedTransaction(1, 2, 9, 9))
    with pytest.raises(CorruptIndexError, match="before the segment"):
        index.check()


def test_the_entries_of_kafkas_index_are_read(tools, place):
    data = (tools.GOLDEN / "data-clean/g-txn-0/00000000000000000000.txnindex").read_bytes()
    file = place.disk.open(place.path(".txnindex"), create=True)
    file.write(0, (data,))
    assert len(list(TransactionIndex(place))) == 2
