"""ApiVersions: what is spoken on which listener, and which features the cluster has."""

from __future__ import annotations

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.broker.call import Client
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.apis import APIS, ApiKey
from quire.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse


def scene() -> Scene:
    found = Scene()
    found.broker.quorum.kraft_version = 1  # type: ignore[misc]
    return found


def named(name: str = "apache-kafka-java", version: str = "4.3.0") -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name=name, client_software_version=version)


def spoken(answer: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    return {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}


@pytest.mark.parametrize("version", range(5))
def test_ranges_are_told_in_every_version(version: int) -> None:
    answer = scene().ask(named(), version)
    assert answer.error_code == ErrorCode.NONE
    ranges = spoken(answer)
    assert ranges[ApiKey.FETCH] == (4, 18)
    assert ranges[ApiKey.API_VERSIONS] == (0, 4)
    assert ranges[ApiKey.PRODUCE] == (0, 13), "librdkafka would believe in no codec otherwise"
    assert sorted(ranges) == list(ranges)
    assert all(APIS[ApiKey(key)].highest_stable == high for key, (_, high) in ranges.items())


def test_features_are_told_since_version_3_and_those_from_level_0_since_4() -> None:
    asked = scene()
    levels = asked.broker.image.features
    by_version = {version: asked.ask(named(), version) for version in (2, 3, 4)}
    assert by_version[2].supported_features == []
    assert by_version[2].finalized_features_epoch == -1
    lowest = {
        version: [one.min_version for one in by_version[version].supported_features]
        for version in (3, 4)
    }
    assert 0 not in lowest[3]
    assert 0 in lowest[4]
    finalized = {one.name: one.max_version_level for one in by_version[4].finalized_features}
    assert finalized["metadata.version"] == asked.broker.image.metadata_version
    assert finalized["kraft.version"] == 1
    assert set(finalized) >= {name for name, level in levels.items() if level > 0}
    assert all(level > 0 for level in finalized.values())
    assert by_version[4].finalized_features_epoch == asked.broker.image.offset


def test_controllers_speak_other_apis_than_brokers() -> None:
    asked = scene()
    broker = spoken(asked.ask(named()))
    controller = spoken(asked.ask(named(), client=BY_CONTROLLER))
    assert ApiKey.PRODUCE in broker
    assert ApiKey.PRODUCE not in controller
    assert ApiKey.BROKER_HEARTBEAT in controller
    assert ApiKey.BROKER_HEARTBEAT not in broker
    assert ApiKey.API_VERSIONS in controller


def test_a_client_is_known_by_the_software_that_it_names() -> None:
    client = Client(Address("127.0.0.1", 5555), "PLAINTEXT")
    asked = scene()
    asked.ask(named("librdkafka", "2.16.1"), client=client)
    assert (client.software_name, client.software_version) == ("librdkafka", "2.16.1")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("", "1"),
        ("a", ""),
        ("-a", "1"),
        ("a-", "1"),
        ("a b", "1"),
        ("a", "1."),
        ("ä", "1"),
        ("a", "1\n"),
    ],
)
def test_a_name_of_software_that_cannot_be_is_refused_since_version_3(
    name: str, version: str
) -> None:
    asked = scene()
    answer = asked.ask(named(name, version), 3)
    assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])
    assert asked.ask(named(name, version), 2).error_code == ErrorCode.NONE
