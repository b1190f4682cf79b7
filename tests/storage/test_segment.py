"""One segment: appends, cuts, and the indexes it keeps."""


def test_a_rebuilt_index_has_the_same_bytes(tools):
    home = tools.Home(index_interval_bytes=300)
    home.open()
    home.fill(50)
    home.log.close(now_ms=tools.NOW_MS)
    name = "00000000000000000000.index"
    before = home.bytes_of(name)
    segment = home.open(clean=True).segments.active
    segment.rebuild_indexes("for the test")
    assert home.bytes_of(name) == before
    assert segment.index_fault == "for the test"


def test_find_gives_the_batch_or_the_next_one(home):
    home.open()
    segment = home.fill(10).segments.active
    size = segment.size // 10
    for offset in range(30):
        position, header = segment.find(offset)
        assert position == size * (offset // 3)
        assert header.base_offset == offset - offset % 3
    assert segment.find(30) is None


def test_a_cut_segment_goes_on_as_if_nothing_had_been_there(tools):
    home, other = tools.Home(index_interval_bytes=300), tools.Home(index_interval_bytes=300)
    home.open()
    other.open()
    segment = home.fill(20).segments.active
    position, header = segment.find(24)
    segment.cut(position, header.base_offset)
    home.log.log_end_offset = 24
    other.fill(8)
    home.fill(6)
    other.fill(6)
    for found in (home, other):
        found.log.close(now_ms=tools.NOW_MS)
    for kind in (".log", ".index", ".timeindex"):
        name = "00000000000000000000" + kind
        assert home.bytes_of(name) == other.bytes_of(name)
