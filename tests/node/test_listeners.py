"""A node's listeners on a simulated network: who is accepted when, and which addresses are told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from tests.node.scene import SETTINGS
from tests.ports.conversations import Ear

from quire.config.layers import BrokerLayers
from quire.config.values import ConfigError
from quire.node.listeners import Listeners, Told, check_protocols, controller_endpoint
from quire.ports.network import Accept, Address
from quire.protocol.apis import BROKER, CONTROLLER, Listener
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import run
from quire.sim.network import SimNetwork


class Rig:
    """Listeners by these settings; whoever is accepted is an ear."""

    def __init__(self, **settings: str) -> None:
        texts = {**SETTINGS, **{name.replace("_", "."): text for name, text in settings.items()}}
        self.network = SimNetwork(SeededEntropy(1))
        self.machine = self.network.machine("b1")
        self.kinds: dict[str, Listener] = {}
        self.ears: list[tuple[str, Ear]] = []
        self.listeners = Listeners(
            self.machine, BrokerLayers(texts).settings, self._accept_for, host_name="b1.example"
        )

    def _accept_for(self, listener: str, kind: Listener) -> Accept:
        self.kinds[listener] = kind

        def accept(stream: Any) -> Ear:
            self.ears.append((listener, Ear(stream)))
            return self.ears[-1][1]

        return accept

    async def call(self, address: Address) -> Ear:
        clients: list[Ear] = []

        def own(stream: Any) -> Ear:
            clients.append(Ear(stream))
            return clients[-1]

        await self.network.machine("client").connect(address, own)
        return clients[0]


def story(main: Callable[[Rig], Awaitable[None]], **settings: str) -> None:
    async def begin() -> None:
        await main(Rig(**settings))

    run(begin)


def settings(**texts: str) -> Any:
    named: Mapping[str, str] = {name.replace("_", "."): text for name, text in texts.items()}
    return BrokerLayers({**SETTINGS, **named}).settings


def test_each_listener_is_opened_as_what_it_is() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        assert rig.kinds == {"PLAINTEXT": BROKER, "CONTROLLER": CONTROLLER}
        assert rig.listeners.addresses == {
            "PLAINTEXT": Address("b1", 9092), "CONTROLLER": Address("b1", 9093),
        }  # fmt: skip

    story(main)


def test_who_comes_early_is_not_heard_before_the_node_serves() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        client = await rig.call(Address("b1", 9092))
        client.stream.send([b"early"])
        await asyncio.sleep(1)
        ((name, ear),) = rig.ears
        assert (name, bytes(ear.heard)) == ("PLAINTEXT", b"")
        rig.listeners.serve()
        await asyncio.sleep(1)
        assert bytes(ear.heard) == b"early"
        late = await rig.call(Address("b1", 9092))
        late.stream.send([b"late"])
        await asyncio.sleep(1)
        assert bytes(rig.ears[1][1].heard) == b"late"

    story(main)


def test_who_came_early_and_went_again_is_no_trouble() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        client = await rig.call(Address("b1", 9092))
        client.stream.close()
        await asyncio.sleep(1)
        rig.listeners.serve()
        await asyncio.sleep(1)
        assert rig.ears[0][1].ended.done()

    story(main)


def test_after_close_nobody_is_accepted_and_connections_go_on() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        rig.listeners.serve()
        client = await rig.call(Address("b1", 9092))
        rig.listeners.close()
        assert rig.listeners.addresses == {}
        with pytest.raises(OSError):
            await rig.call(Address("b1", 9092))
        client.stream.send([b"still"])
        await asyncio.sleep(1)
        assert bytes(rig.ears[0][1].heard) == b"still"

    story(main)


def test_a_port_that_is_taken_is_named_and_no_listener_stays_open() -> None:
    async def main(rig: Rig) -> None:
        taken = rig.machine.listen(Address("b1", 9093), Ear)
        with pytest.raises(ConfigError, match="CONTROLLER://b1:9093, which cannot be opened"):
            rig.listeners.open()
        assert rig.listeners.addresses == {}
        taken.close()
        rig.listeners.open()

    story(main)


def test_port_0_is_any_free_port_and_the_true_one_is_told() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        true = rig.listeners.addresses["PLAINTEXT"].port
        assert true > 0
        assert rig.listeners.told(BROKER) == [Told("PLAINTEXT", "b1", true, 0)]
        controller = rig.listeners.addresses["CONTROLLER"].port
        assert rig.listeners.told(CONTROLLER) == [Told("CONTROLLER", "b1", controller, 0)]

    story(main, listeners="PLAINTEXT://b1:0,CONTROLLER://b1:0")


def test_what_is_advertised_is_told_instead_of_where_it_listens() -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        assert rig.listeners.told(BROKER) == [
            Told("INSIDE", "in.example", 1, 0), Told("OUTSIDE", "out.example", 2, 0),
        ]  # fmt: skip

    story(
        main,
        listeners="INSIDE://b1:9092,OUTSIDE://b1:9094,CONTROLLER://b1:9093",
        advertised_listeners="INSIDE://in.example:1,OUTSIDE://out.example:2",
        inter_broker_listener_name="INSIDE",
        listener_security_protocol_map="INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    )


@pytest.mark.parametrize("host", ["", "0.0.0.0", "[::]"])
def test_who_listens_everywhere_is_told_by_the_name_of_the_machine(host: str) -> None:
    async def main(rig: Rig) -> None:
        rig.listeners.open()
        assert [one.host for one in rig.listeners.told(BROKER)] == ["b1.example"]

    story(main, listeners=f"PLAINTEXT://{host}:9092,CONTROLLER://b1:9093")


def test_voters_reach_the_controller_where_it_is_advertised_or_listens() -> None:
    assert controller_endpoint(settings(), "h") == ("CONTROLLER", "b1", 9093)
    everywhere = settings(listeners="PLAINTEXT://b1:9092,CONTROLLER://:9093")
    assert controller_endpoint(everywhere, "h") == ("CONTROLLER", "h", 9093)
    advertised = settings(advertised_listeners="PLAINTEXT://b1:9092,CONTROLLER://outer:7")
    assert controller_endpoint(advertised, "h") == ("CONTROLLER", "outer", 7)


def test_a_listener_that_would_have_to_be_secure_is_refused_by_name() -> None:
    check_protocols(settings())
    secure = settings(
        listeners="OUT://b1:9092,CONTROLLER://b1:9093",
        inter_broker_listener_name="OUT",
        listener_security_protocol_map="OUT:SASL_SSL,CONTROLLER:PLAINTEXT",
    )
    with pytest.raises(ConfigError, match="listener OUT the protocol SASL_SSL"):
        check_protocols(secure)
