from __future__ import annotations

import asyncio

import pytest

from quire.broker.peers import Nobody, PeerUnavailableError


def test_without_a_way_to_others_nobody_answers() -> None:
    with pytest.raises(PeerUnavailableError, match="broker 2"):
        asyncio.run(Nobody().ask(2, object()))
