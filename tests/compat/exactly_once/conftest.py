"""A node of the test's own, which is killed while clients work: Quire, or Apache Kafka with QUIRE_COMPAT=kafka."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.client import eventually
from tests.compat.conftest import answers
from tests.interop.kafka import Kafka, require_java
from tests.interop.killable import Killable
from tests.interop.quire_node import QuireNode


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Killable]:
    against = os.environ.get("QUIRE_COMPAT", "quire")
    if ":" in against:
        pytest.skip("NOT CHECKED: somebody else's cluster is not killed")
    if against == "kafka":
        require_java()
    node = Killable(Kafka(tmp_path) if against == "kafka" else QuireNode(tmp_path))
    with node.running():
        assert eventually(lambda: answers(node.bootstrap))
        yield node


@pytest.fixture
def bootstrap(node: Killable) -> str:
    return node.bootstrap
