from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_client_quotas as changing
from quire.protocol.messages import describe_client_quotas as quotas

EXACT, DEFAULT, ANY = range(3)
Part = tuple[str, int, str | None]


def scene() -> Scene:
    found = Scene()
    for entity, key in (
        ([("user", "alice")], "producer_byte_rate"),
        ([("user", None)], "producer_byte_rate"),
        ([("user", "alice"), ("client-id", "app")], "consumer_byte_rate"),
        ([("ip", "10.0.0.1")], "connection_creation_rate"),
    ):
        entry = changing.AlterClientQuotasRequestEntryData(
            entity=[
                changing.AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name)
                for kind, name in entity
            ],
            ops=[changing.OpData(key=key, value=7.0, remove=False)],
        )
        request = changing.AlterClientQuotasRequest(entries=[entry], validate_only=False)
        assert found.ask(request).entries[0].error_code == ErrorCode.NONE
    return found


def find(*parts: Part, strict: bool = False) -> quotas.DescribeClientQuotasRequest:
    return quotas.DescribeClientQuotasRequest(
        components=[
            quotas.ComponentData(entity_type=kind, match_type=how, match=match)
            for kind, how, match in parts
        ],
        strict=strict,
    )


ALICE = "client-id=app user=alice"


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (find(), ["user=alice", "user=None", ALICE, "ip=10.0.0.1"]),
        (find(strict=True), []),
        (find(("user", EXACT, "alice")), ["user=alice", ALICE]),
        (find(("user", EXACT, "alice"), strict=True), ["user=alice"]),
        (find(("user", DEFAULT, None)), ["user=None"]),
        (find(("user", ANY, None), strict=True), ["user=alice", "user=None"]),
        (find(("user", ANY, None), ("client-id", ANY, None)), [ALICE]),
        (find(("ip", ANY, None)), ["ip=10.0.0.1"]),
        (find(("user", EXACT, "nobody")), []),
    ],
)
@pytest.mark.parametrize("version", range(2))
def test_what_a_filter_finds(
    request_: quotas.DescribeClientQuotasRequest, found: list[str], version: int
) -> None:
    response = scene().ask(request_, version)
    told = [
        " ".join(f"{part.entity_type}={part.entity_name}" for part in entry.entity)
        for entry in response.entries
    ]
    assert sorted(told) == sorted(found)
    assert all(one.values[0].value == 7.0 for one in response.entries)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ([("user", DEFAULT, "alice")], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, "alice")], ErrorCode.INVALID_REQUEST),
        ([("user", EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 9, None)], ErrorCode.INVALID_REQUEST),
        ([("", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("group", ANY, None)], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", ANY, None), ("user", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, None), ("ip", ANY, None)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_filters_that_make_no_sense(part: list[Part], code: ErrorCode) -> None:
    response = Scene().ask(find(*part))
    assert (response.error_code, response.entries) == (code, None)
    assert response.error_message
