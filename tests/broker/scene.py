"""A broker beside a real controller, without a node: what the controller decides is in the broker's image at once.

    scene = Scene(brokers=3)
    response = scene.ask(MetadataRequest(topics=None), version=12)

Requests and responses go through their bytes, in the version asked, as on a connection.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

from tests.controller.world import CLUSTER_ID, World, directory

from quire.broker.broker import Broker, BrokerState, Waiting
from quire.broker.call import Call, Client
from quire.broker.config_rules import SettingsRules
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE
from quire.broker.fetch_sessions import FetchSessions
from quire.broker.producer_ids import ProducerIds
from quire.broker.purgatory import Purgatory
from quire.broker.quotas import Quotas
from quire.config.layers import BrokerLayers
from quire.errors import ErrorCode
from quire.metadata.image import BROKER
from quire.ports.network import Address
from quire.protocol.apis import APIS
from quire.protocol.compiler import codec
from quire.protocol.messages import REQUESTS
from quire.protocol.messages import alter_client_quotas as limiting
from quire.protocol.messages import create_topics as creating

STATIC: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
    "log.dirs": "/data",
}
ALICE = Client(Address("127.0.0.1", 5555), "PLAINTEXT", "User:alice")
BY_CONTROLLER = Client(Address("127.0.0.1", 5556), "CONTROLLER")


class Hand:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ms = 50_000

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms

    def monotonic_ns(self) -> int:
        return self.now_ms * 1_000_000


class Link:
    """Asks the scene's controller, unless it is away."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.away = 0
        """How many more questions nobody hears."""
        self.asked: list[Any] = []

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:
        assert version in range(100)
        assert client is None or isinstance(client, Client)
        await asyncio.sleep(0)
        if self.away:
            self.away -= 1
            raise ControllerUnavailableError("away")
        self.asked.append(request)
        response = self._scene.world.do(request).response
        self._scene.catch_up()
        return response


class Scene:
    """See the module."""

    def __init__(self, *, brokers: int = 1, **static: str) -> None:
        texts = {**STATIC, **{name.replace("_", "."): text for name, text in static.items()}}
        layers = BrokerLayers(texts)
        settings = layers.settings
        self.world = World(
            rules=SettingsRules(lambda: self.broker.layers),
            num_partitions=settings.num_partitions,
            default_replication_factor=settings.default_replication_factor,
            delete_topic_enable=settings.delete_topic_enable,
        )
        self.clock = Hand()
        self.link = Link(self)
        self.broker = Broker(
            node_id=1,
            cluster_id=CLUSTER_ID,
            incarnation_id=bytes(15) + b"\x07",
            layers=layers,
            replicas=cast("Any", SimpleNamespace()),
            log_dirs=cast("Any", SimpleNamespace(log_dirs=[])),
            fetch_sessions=FetchSessions(
                slots=10, eviction_ms=1000, draw_below=lambda limit: 0 * limit
            ),
            waiting=Waiting(Purgatory(), Purgatory(), Purgatory(), Purgatory()),
            controller=self.link,
            quorum=cast("Any", SimpleNamespace(leader_id=1, listener="CONTROLLER", voters=())),
            quotas=Quotas(self.clock),
            producer_ids=ProducerIds(
                self.link, node_id=1, broker_epoch=lambda: self.broker.broker_epoch
            ),
            groups=cast("Any", SimpleNamespace()),
            metrics=cast("Any", SimpleNamespace()),
            clock=self.clock,
            entropy=self.world.entropy,
            background=cast("Any", SimpleNamespace()),
            state=BrokerState.RUNNING,
        )
        self.world.start(*range(1, brokers + 1))
        self.catch_up()

    def catch_up(self) -> None:
        """Let the broker see what the controller has committed, as publishing does."""
        image = self.world.image
        before = self.broker.layers
        layers = before.with_dynamic(
            cluster=image.config(BROKER, ""), broker=image.config(BROKER, "1")
        )
        self.broker.layers = layers
        self.broker.image = image
        self.broker.broker_epoch = image.brokers[1].broker_epoch
        self.broker.quotas.apply(image, layers)

    def call(
        self, request: Any, version: int, client: Client = ALICE, client_id: str | None = "test"
    ) -> Call:
        """A call with `request` as it comes over the wire."""
        api = next(APIS[key] for key, (found, _) in REQUESTS.items() if found is type(request))
        spoken = codec(type(request), version)
        return Call(
            api,
            version,
            spoken.decode_all(spoken.encode(request)),
            client=client,
            client_id=client_id,
            received_ms=self.clock.now_ms,
            answer=lambda response: None,
        )

    async def handle(self, call: Call) -> Any:
        """The response of the handler that the tables name, as it goes over the wire."""
        table = CONTROLLER_TABLE if call.client.listener == "CONTROLLER" else BROKER_TABLE
        row = table[call.api.key]  # type: ignore[index]
        found = import_module(f"quire.broker.handlers.{row.module}").handle(self.broker, call)
        response = await found if inspect.isawaitable(found) else found
        spoken = codec(REQUESTS[call.api.key][1], call.version)
        return spoken.decode_all(spoken.encode(response))

    def ask(
        self,
        request: Any,
        version: int | None = None,
        *,
        client: Client = ALICE,
        client_id: str | None = "test",
    ) -> Any:
        """Ask one question; in the highest stable version where none is given."""
        if version is None:
            version = next(
                APIS[key].highest_stable
                for key, (found, _) in REQUESTS.items()
                if found is type(request)
            )
        return asyncio.run(self.handle(self.call(request, version, client, client_id)))

    def topic(self, name: str, partitions: int = 1, factor: int = 1, **settings: str) -> bytes:
        """Make a topic; its id."""
        asked = creating.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=factor,
            assignments=[],
            configs=[
                creating.CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in settings.items()
            ],
        )
        result = self.ask(creating.CreateTopicsRequest(topics=[asked])).topics[0]
        assert result.error_code == ErrorCode.NONE, result
        found: bytes = result.topic_id
        return found

    def limit(self, key: str, value: float, user: str | None = None) -> None:
        """Store a limit for a user, or for all."""
        entry = limiting.AlterClientQuotasRequestEntryData(
            entity=[
                limiting.AlterClientQuotasRequestEntityData(entity_type="user", entity_name=user)
            ],
            ops=[limiting.OpData(key=key, value=value, remove=False)],
        )
        request = limiting.AlterClientQuotasRequest(entries=[entry], validate_only=False)
        assert self.world.do(request).records
        self.catch_up()


__all__ = ["ALICE", "BY_CONTROLLER", "STATIC", "Hand", "Link", "Scene", "directory"]
