from __future__ import annotations

import asyncio

import pytest
from tests.broker.handlers.test_create_acls import creation
from tests.broker.scene import Scene

from quire.broker.call import CLOSE
from quire.broker.handlers.delete_acls import handle
from quire.errors import ErrorCode
from quire.protocol.messages import create_acls, delete_acls


def wanted(kind: int = 1, name: str | None = None) -> delete_acls.DeleteAclsFilter:
    return delete_acls.DeleteAclsFilter(
        resource_type_filter=kind,
        resource_name_filter=name,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


@pytest.mark.parametrize("version", range(1, 4))
def test_without_an_authorizer_there_are_none_to_speak_of(version: int) -> None:
    request = delete_acls.DeleteAclsRequest(filters=[wanted(), wanted(2)])
    response = Scene().ask(request, version)
    assert [one.error_code for one in response.filter_results] == [ErrorCode.SECURITY_DISABLED] * 2


def test_with_one_the_controller_removes_what_is_found() -> None:
    scene = Scene(authorizer_class_name="org.example.Authorizer")
    scene.ask(create_acls.CreateAclsRequest(creations=[creation("a"), creation("b")]))
    request = delete_acls.DeleteAclsRequest(filters=[wanted(name="a")])
    (result,) = scene.ask(request).filter_results
    assert [one.resource_name for one in result.matching_acls] == ["a"]
    assert len(scene.broker.image.acls) == 1


def test_a_number_that_means_nothing_closes_the_connection() -> None:
    scene = Scene()
    call = scene.call(delete_acls.DeleteAclsRequest(filters=[wanted(0)]), 3)
    assert asyncio.run(handle(scene.broker, call)) is CLOSE
