"""How brokers ask each other, over a simulated network."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.node.scene import SETTINGS, format_machine, on_machine

from quire.broker.peers import PeerUnavailableError
from quire.metadata.image import Image
from quire.node.boot import Node, start
from quire.node.peers import Peers
from quire.protocol.messages.list_transactions import ListTransactionsRequest
from quire.sim.machine import Machine

QUESTION = ListTransactionsRequest(state_filters=[], producer_id_filters=[])


def peers_of(machine: Machine, node: Node, listener: str = "PLAINTEXT") -> Peers:
    network = machine.boot().network
    return Peers(network, listener=listener, image=lambda: node.broker.image, timeout_ms=500)


def test_a_broker_is_asked_over_one_connection_that_is_opened_again_when_it_ended() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        peers = peers_of(machine, node)
        answers = await asyncio.gather(*(peers.ask(1, QUESTION) for _ in range(3)))
        assert [one.error_code for one in answers] == [0, 0, 0]
        peers.close()
        assert (await peers.ask(1, QUESTION)).error_code == 0
        peers.close()
        await node.stop()

    on_machine(main)


def test_who_cannot_be_asked_is_said_to_be_unavailable() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        with pytest.raises(PeerUnavailableError, match="broker 7 has no address"):
            await peers_of(machine, node).ask(7, QUESTION)
        with pytest.raises(PeerUnavailableError, match="no address on OTHER"):
            await peers_of(machine, node, "OTHER").ask(1, QUESTION)
        image: Image = node.broker.image
        peers = peers_of(machine, node)
        assert (await peers.ask(1, QUESTION)).error_code == 0
        await node.stop()
        node.broker.image = replace(image)
        with pytest.raises(PeerUnavailableError, match="broker 1"):
            await peers.ask(1, QUESTION)

    on_machine(main)
