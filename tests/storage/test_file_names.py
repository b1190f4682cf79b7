"""Names say the base offset, the kind and the stage; anything else is not ours."""

import pytest

from quire.storage.file_names import LOG, SWAP, base_offset_of, base_offsets, file_name


def test_names_and_offsets_are_inverse():
    for offset in (0, 17, 2**63 - 1):
        assert base_offset_of(file_name(offset, LOG + SWAP), LOG + SWAP) == offset


@pytest.mark.parametrize(
    "name",
    [
        "1.log",
        "0000000000000000001.log",
        "0000000000000000000x.log",
        "00000000000000000000.log2",
        "",
    ],
)
def test_other_names_have_no_offset(name):
    assert base_offset_of(name, LOG) is None


def test_offsets_of_a_kind_come_ascending():
    names = ["00000000000000000009.log", "00000000000000000002.log", "00000000000000000001.index"]
    assert base_offsets(names, LOG) == [2, 9]
