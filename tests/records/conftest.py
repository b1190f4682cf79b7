"""Every test of this room runs on both implementations of the record section."""

from collections.abc import Iterator

import pytest

from quire.records import implementation


@pytest.fixture(scope="module", params=["reference", "kernel"], autouse=True)
def chosen_implementation(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "kernel" and not implementation.KERNEL_BUILT:
        pytest.skip("the Cython kernel was not built: only the reference is tested")
    before = "kernel" if implementation.NAME == "cython kernel" else "reference"
    implementation.use(request.param)
    yield request.param
    implementation.use(before)
