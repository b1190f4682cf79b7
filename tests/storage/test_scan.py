"""Walks over batches in pieces of any size see every batch once."""

import pytest

from quire.errors import CorruptBatchError
from quire.storage import scan


@pytest.mark.parametrize("chunk_bytes", [61, 100, 300, 5000, 1 << 20])
def test_every_batch_is_seen_whatever_the_size_of_the_pieces(tools, home, chunk_bytes):
    log = home.open()
    for size in (0, 500, 3, 9000, 1):
        tools.append(log, tools.batch(2, value=b"x" * size))
    segment = log.segments.active
    headers = list(scan.headers(segment.file, 0, segment.size, chunk_bytes=chunk_bytes))
    views = []
    for view in scan.whole_batches(segment.file, 0, segment.size, chunk_bytes=chunk_bytes):
        stored = segment.slice(view.position, view.header.size).read()
        assert view.buffer[view.at : view.at + view.header.size] == stored
        views.append((view.position, view.header))
    assert [header.base_offset for _, header in headers] == [0, 2, 4, 6, 8]
    assert views == headers


@pytest.mark.parametrize("walk", [scan.headers, scan.whole_batches])
def test_a_batch_that_does_not_end_inside_the_bounds_is_an_error(home, walk):
    home.open()
    segment = home.fill(2).segments.active
    with pytest.raises(CorruptBatchError) as caught:
        list(walk(segment.file, 0, segment.size - 1))
    assert (caught.value.path, caught.value.position) == (segment.path, segment.size // 2)
    with pytest.raises(CorruptBatchError, match="too few"):
        list(walk(segment.file, 0, 10))
