"""Both systems, asked the whole corpus once; the tests look at what they answered."""

from __future__ import annotations

import pytest
from tests.compat.differential.comparison import Comparison, compare
from tests.interop.kafka import require_java


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    require_java()
    return compare(tmp_path_factory.mktemp("differential"))
