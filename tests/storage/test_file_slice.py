"""A slice is a promise of bytes."""


def test_a_slice_reads_its_part_of_the_file(home):
    home.open()
    home.fill(2)
    data = home.bytes_of("00000000000000000000.log")
    assert home.log.segments.active.slice(10, 20).read() == data[10:30]
