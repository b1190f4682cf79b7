"""The table of APIs agrees with the declarations, and headers follow from it."""

from __future__ import annotations

import pytest

from quire.protocol.apis import API_NAMES, APIS, ApiKey, Listener
from quire.protocol.messages import REQUESTS
from quire.protocol.schema import declaration_of


@pytest.mark.parametrize("key", sorted(APIS))
def test_a_row_says_what_both_declarations_say(key):
    api = APIS[key]
    for cls in REQUESTS[key]:
        declared = declaration_of(cls)
        assert declared.key == key
        assert (declared.lowest, declared.highest) == (api.lowest, api.highest)
        assert declared.flexible == api.flexible
    request, response = (cls.__name__ for cls in REQUESTS[key])
    assert (request, response) == (f"{api.name}Request", f"{api.name}Response")
    assert declaration_of(REQUESTS[key][0]).latest_unstable == api.latest_unstable


def test_there_are_89_apis_with_a_key_each():
    assert len(APIS) == 89
    assert sorted(APIS) == sorted(ApiKey)
    assert API_NAMES[ApiKey.FETCH] == "Fetch"


def test_brokers_and_controllers_serve_what_they_should():
    brokers = [api for api in APIS.values() if Listener.BROKER in api.listeners]
    controllers = [api for api in APIS.values() if Listener.CONTROLLER in api.listeners]
    assert len(brokers) == 77
    assert len(controllers) == 41


def test_the_apis_that_change_metadata_are_forwarded():
    assert {api.key for api in APIS.values() if api.forwarded} == {
        *(19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81)
    }


def test_headers_become_flexible_with_their_api_but_for_one():
    fetch = APIS[ApiKey.FETCH]
    assert [fetch.request_header_version(version) for version in (11, 12)] == [1, 2]
    assert [fetch.response_header_version(version) for version in (11, 12)] == [0, 1]
    versions = APIS[ApiKey.API_VERSIONS]
    assert versions.request_header_version(3) == 2
    assert versions.response_header_version(4) == 0
    assert APIS[ApiKey.SASL_HANDSHAKE].request_header_version(1) == 1


def test_only_the_last_version_of_init_producer_id_is_unstable():
    assert [api.name for api in APIS.values() if api.latest_unstable] == ["InitProducerId"]
    assert APIS[ApiKey.INIT_PRODUCER_ID].highest_stable == 5
    assert APIS[ApiKey.PRODUCE].highest_stable == 13
