from __future__ import annotations

from collections.abc import Mapping

import pytest

from quire.broker import quotas as quotas_room
from quire.broker.call import Client
from quire.broker.quotas import Bucket, Quotas, Rate, Windows
from quire.config.layers import BrokerLayers
from quire.metadata.image import Image, QuotaEntity
from quire.ports.network import Address

STATIC = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
}


class Hand:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ms = 50_000

    def wall_ms(self) -> int:
        return self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms

    def monotonic_ns(self) -> int:
        return self.now_ms * 1_000_000


def client(user: str = "alice") -> Client:
    return Client(Address("127.0.0.1", 5), "PLAINTEXT", f"User:{user}")


def limited(clock: Hand, *limits: tuple[dict[str, str | None], str, float]) -> Quotas:
    stored: dict[tuple[QuotaEntity, ...], Mapping[str, float]] = {}
    for entity, key, limit in limits:
        parts = tuple(QuotaEntity(*part) for part in sorted(entity.items()))
        stored[parts] = {**stored.get(parts, {}), key: limit}
    quotas = Quotas(clock)
    quotas.apply(Image(quotas=stored), BrokerLayers(STATIC))
    return quotas


def test_without_limits_nobody_waits() -> None:
    quotas = limited(Hand())
    assert not quotas.active
    assert quotas.produced(client(), "app", 10**9) == 0
    assert quotas.mutated(client(), "app", 10**6, strict=True) == 0
    assert quotas.connected("127.0.0.1") == 0


def test_a_rate_is_measured_over_all_windows_but_the_one_that_runs() -> None:
    rate = Rate(Windows(11, 1000))
    rate.add(5000, 0)
    assert rate.per_second(0) == 500
    rate.add(5000, 10_500)
    assert rate.per_second(10_500) == pytest.approx(10_000 / 10.5)
    assert rate.per_second(11_000) == pytest.approx(5000 / 10.5)
    assert not rate.is_idle(21_499)
    assert rate.is_idle(21_500)


def test_a_throttle_is_as_long_as_it_takes_to_be_within_the_limit_again() -> None:
    clock = Hand()
    quotas = limited(clock, ({"user": "alice"}, "producer_byte_rate", 1000.0))
    assert quotas.active
    assert quotas.produced(client(), "app", 10_000) == 0  # as much as ten seconds allow
    assert quotas.produced(client(), "app", 5_000) == 5_000
    clock.now_ms += 30_000
    assert quotas.produced(client(), "app", 10_000) == 0


PRECEDENCE: list[dict[str, str | None]] = [
    {"user": "alice", "client-id": "app"},
    {"user": "alice", "client-id": None},
    {"user": "alice"},
    {"user": None, "client-id": "app"},
    {"user": None, "client-id": None},
    {"user": None},
    {"client-id": "app"},
    {"client-id": None},
]


@pytest.mark.parametrize("first", range(len(PRECEDENCE)))
def test_the_most_special_limit_counts(first: int) -> None:
    limits = [
        (entity, "consumer_byte_rate", 100.0 if place == first else 1.0)
        for place, entity in enumerate(PRECEDENCE)
        if place >= first
    ]
    assert limited(Hand(), *limits).fetched(client(), "app", 1000) == 0
    weaker = [(entity, key, 101.0 - limit) for entity, key, limit in limits]
    assert limited(Hand(), *weaker).fetched(client(), "app", 1000) > 0


def test_a_users_limit_is_shared_by_client_ids_and_a_default_is_not_shared_by_users() -> None:
    clock = Hand()
    shared = limited(clock, ({"user": "alice"}, "producer_byte_rate", 100.0))
    assert shared.produced(client(), "one", 1000) == 0
    assert shared.produced(client(), "two", 1000) > 0
    assert shared.produced(client("bob"), "one", 10**6) == 0
    default = limited(clock, ({"user": None}, "producer_byte_rate", 100.0))
    assert default.produced(client(), "one", 1000) == 0
    assert default.produced(client("bob"), "one", 1000) == 0
    assert default.produced(client("bob"), "two", 1000) > 0


def test_who_has_no_client_id_is_under_limits_of_users_only() -> None:
    by_id = limited(Hand(), ({"client-id": None}, "producer_byte_rate", 1.0))
    assert by_id.produced(client(), None, 10**6) == 0
    by_user = limited(Hand(), ({"user": None}, "producer_byte_rate", 1.0))
    assert by_user.produced(client(), None, 10**6) > 0


def test_what_was_not_sent_is_given_back() -> None:
    quotas = limited(Hand(), ({"user": "alice"}, "consumer_byte_rate", 100.0))
    assert quotas.fetched(client(), "app", 5000) == 40_000
    quotas.not_fetched(client(), "app", 5000)
    assert quotas.fetched(client(), "app", 1000) == 0


def test_time_is_in_percent_of_a_thread_and_throttles_one_window_at_most() -> None:
    quotas = limited(Hand(), ({"user": "alice"}, "request_percentage", 1.0))
    assert quotas.requested(client(), "app", 100_000_000) == 0  # 1% of ten seconds
    assert quotas.requested(client(), "app", 5_000_000) == 500
    assert quotas.requested(client(), "app", 10**10) == 1000


def test_a_bucket_may_go_below_zero_once_and_then_refuses() -> None:
    clock = Hand()
    quotas = limited(clock, ({"user": "alice"}, "controller_mutation_rate", 2.0))
    assert quotas.mutated(client(), "app", 22, strict=True) == 0
    assert quotas.mutated(client(), "app", 10, strict=True) == 0
    assert quotas.mutated(client(), "app", 1, strict=True) == 5000
    clock.now_ms += 5000
    assert quotas.mutated(client(), "app", 1, strict=True) == 0
    assert quotas.mutated(client(), "app", 1, strict=False) == 1000, "taken, but slowed down"


def test_a_bucket_is_never_fuller_than_its_windows() -> None:
    bucket = Bucket(Windows(11, 1000), 1.0, 0)
    assert bucket.take(11, 1.0, 10**9, strict=False) == 0
    assert bucket.take(1, 1.0, 10**9, strict=False) == 1000


def test_connections_of_an_address_are_limited_and_those_refused_do_not_count() -> None:
    clock = Hand()
    quotas = limited(
        clock,
        ({"ip": "10.0.0.1"}, "connection_creation_rate", 1.0),
        ({"ip": None}, "connection_creation_rate", 5.0),
    )
    assert [quotas.connected("10.0.0.1") for _ in range(12)] == [0] * 10 + [1000] * 2
    assert [quotas.connected("10.0.0.2") for _ in range(50)] == [0] * 50
    clock.now_ms += 1000
    assert quotas.connected("10.0.0.1") > 0


def test_new_limits_count_at_once_with_what_was_measured_before() -> None:
    clock = Hand()
    quotas = limited(clock, ({"user": "alice"}, "producer_byte_rate", 100.0))
    assert quotas.produced(client(), "app", 1000) == 0
    stored = {(QuotaEntity("user", "alice"),): {"producer_byte_rate": 50.0}}
    quotas.apply(Image(quotas=stored), BrokerLayers(STATIC))
    assert quotas.produced(client(), "app", 0) == 10_000
    quotas.apply(Image(), BrokerLayers(STATIC))
    assert not quotas.active


def test_who_is_idle_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas_room, "REMEMBERED", 10)
    clock = Hand()
    quotas = limited(
        clock,
        ({"user": None}, "producer_byte_rate", 100.0),
        ({"user": None}, "controller_mutation_rate", 100.0),
    )
    for number in range(200):
        clock.now_ms += 2000
        quotas.produced(client(f"u{number}"), None, 1)
        quotas.mutated(client(f"u{number}"), None, 1, strict=False)
    quotas.check()
    assert len(quotas._rates) <= 20
    assert len(quotas._buckets) <= 20
