from __future__ import annotations

import asyncio

import pytest
from tests.broker.scene import Scene

from quire.broker.call import CLOSE
from quire.broker.handlers.create_acls import handle
from quire.errors import ErrorCode
from quire.protocol.messages import create_acls


def creation(name: str = "t", operation: int = 3, kind: int = 2) -> create_acls.AclCreation:
    return create_acls.AclCreation(
        resource_type=kind,
        resource_name=name,
        principal="User:alice",
        host="*",
        operation=operation,
        permission_type=3,
    )


@pytest.mark.parametrize("version", range(1, 4))
def test_without_an_authorizer_nobody_would_obey(version: int) -> None:
    scene = Scene()
    request = create_acls.CreateAclsRequest(creations=[creation(), creation("u")])
    response = scene.ask(request, version)
    assert [one.error_code for one in response.results] == [ErrorCode.SECURITY_DISABLED] * 2
    assert not scene.broker.image.acls


def test_with_one_the_controller_stores_them() -> None:
    scene = Scene(authorizer_class_name="org.example.Authorizer")
    request = create_acls.CreateAclsRequest(creations=[creation(), creation("")])
    response = scene.ask(request)
    assert [one.error_code for one in response.results] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]
    assert len(scene.broker.image.acls) == 1


@pytest.mark.parametrize("strange", [creation(kind=8), creation(operation=16)])
def test_a_number_that_says_nothing_is_refused(strange: create_acls.AclCreation) -> None:
    scene = Scene(authorizer_class_name="org.example.Authorizer")
    response = scene.ask(create_acls.CreateAclsRequest(creations=[creation(), strange]))
    assert [one.error_code for one in response.results] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]


@pytest.mark.parametrize("strange", [creation(kind=0), creation(operation=0)])
def test_the_number_that_says_unknown_closes_the_connection(
    strange: create_acls.AclCreation,
) -> None:
    scene = Scene()
    call = scene.call(create_acls.CreateAclsRequest(creations=[creation(), strange]), 3)
    assert asyncio.run(handle(scene.broker, call)) is CLOSE
