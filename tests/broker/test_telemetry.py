from __future__ import annotations

import pytest
from tests.broker.scene import ALICE, Scene

from quire.broker import telemetry as telemetry_room
from quire.broker.call import Call, Client
from quire.broker.telemetry import DEFAULT_INTERVAL_MS, Subscription, Telemetry, subscription_of
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest

ME = bytes(range(100, 116))


def asking(scene: Scene, client: Client = ALICE) -> Call:
    return scene.call(GetTelemetrySubscriptionsRequest(client_instance_id=ME), 0, client, "app")


def with_subscriptions(**texts: dict[str, str]) -> Scene:
    scene = Scene()
    for name, settings in texts.items():
        for key, value in settings.items():
            scene.world.set(16, name, key, value)
    scene.catch_up()
    return scene


def test_a_client_is_told_what_all_that_match_it_say_together() -> None:
    scene = with_subscriptions(
        a={"metrics": "org.a,org.b", "interval.ms": "1000"},
        b={"metrics": "org.b,org.c", "interval.ms": "500", "match": "client_id=a.*"},
        c={"metrics": "org.d", "match": "client_id=b.*"},
        d={"metrics": "org.e", "match": "client_id=app,client_source_port=1"},
    )
    found = subscription_of(asking(scene), ME, scene.broker.image)
    assert (found.metrics, found.interval_ms) == (("org.a", "org.b", "org.c"), 500)
    everything = with_subscriptions(a={"metrics": "x,*"})
    assert subscription_of(asking(everything), ME, everything.broker.image).metrics == ("*",)


def test_the_number_is_the_one_that_kafka_gives() -> None:
    scene = with_subscriptions(m2={"metrics": "*", "interval.ms": "500"})
    assert subscription_of(asking(scene), ME, scene.broker.image).number == -1152366421
    scene = with_subscriptions(m2={"metrics": "org.a,org.b", "interval.ms": "500"})
    assert subscription_of(asking(scene), ME, scene.broker.image).number == 152623571


def test_without_subscriptions_nothing_is_asked_for() -> None:
    scene = Scene()
    found = subscription_of(asking(scene), ME, scene.broker.image)
    assert (found.metrics, found.interval_ms) == ((), DEFAULT_INTERVAL_MS)


def test_a_client_asks_once_per_interval() -> None:
    scene = with_subscriptions(m={"metrics": "*", "interval.ms": "500"})
    image, telemetry = scene.broker.image, Telemetry()
    assert isinstance(telemetry.asked(asking(scene), ME, image, 1000), Subscription)
    assert telemetry.asked(asking(scene), ME, image, 1499) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert isinstance(telemetry.asked(asking(scene), ME, image, 1500), Subscription)
    elsewhere = Client(Address("127.0.0.1", 7), "PLAINTEXT")
    assert isinstance(telemetry.asked(asking(scene, elsewhere), ME, image, 1501), Subscription)


def test_pushes_keep_to_the_interval_and_the_subscription() -> None:
    scene = with_subscriptions(m={"metrics": "*", "interval.ms": "500"})
    image, telemetry = scene.broker.image, Telemetry()
    subscription = telemetry.asked(asking(scene), ME, image, 1000)
    assert isinstance(subscription, Subscription)

    def push(now_ms: int, number: int = subscription.number, *, is_last: bool = False) -> ErrorCode:
        return telemetry.pushed(asking(scene), ME, image, now_ms, number=number, is_last=is_last)

    assert push(1001) is ErrorCode.NONE, "the first may come at any time"
    assert push(1400) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push(1501, number=7) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert push(2100) is ErrorCode.NONE
    assert push(2101, is_last=True) is ErrorCode.NONE, "the last too"
    assert push(9000) is ErrorCode.INVALID_REQUEST


def test_a_bounded_number_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_room, "REMEMBERED", 3)
    scene, telemetry = Scene(), Telemetry()
    for port in range(10):
        client = Client(Address("127.0.0.1", port), "PLAINTEXT")
        telemetry.asked(asking(scene, client), ME, scene.broker.image, 1000)
        telemetry.check()
