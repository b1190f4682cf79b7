"""franz-go, built from its modules."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.client import Client
from tests.compat.environments import go_program
from tests.compat.scenarios import Administration, Conversation

pytestmark = pytest.mark.compat

SOURCE = Path(__file__).parent


class TestFranzGo(Conversation, Administration):
    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client(go_program("franz-go", SOURCE), bootstrap)
