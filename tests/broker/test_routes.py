from __future__ import annotations

from quire.broker.metrics import Metrics
from quire.broker.routes import Routes
from quire.protocol.apis import APIS, BROKER, CONTROLLER, ApiKey
from quire.protocol.connection import Spoken


def test_a_route_is_found_once_and_kept() -> None:
    routes = Routes(BROKER, Metrics())
    spoken = Spoken(APIS[ApiKey.API_VERSIONS], 3)
    assert routes.get(spoken) is None
    route = routes.find(spoken)
    assert route is not None
    assert routes.get(spoken) is route


def test_each_kind_of_listener_has_its_own_table() -> None:
    produce = Spoken(APIS[ApiKey.PRODUCE], 9)
    assert Routes(BROKER, Metrics()).find(produce) is not None
    assert Routes(CONTROLLER, Metrics()).find(produce) is None


def test_what_has_no_row_has_no_route() -> None:
    assert Routes(BROKER, Metrics()).find(Spoken(APIS[ApiKey.STREAMS_GROUP_HEARTBEAT], 0)) is None
