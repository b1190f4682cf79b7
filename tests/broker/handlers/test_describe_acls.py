from __future__ import annotations

import pytest
from tests.broker.handlers.test_create_acls import creation
from tests.broker.scene import ALICE, Scene

from quire.broker.call import CLOSE
from quire.broker.handlers.describe_acls import handle
from quire.errors import ErrorCode
from quire.protocol.messages import create_acls
from quire.protocol.messages.describe_acls import DescribeAclsRequest


def asked(kind: int = 1, pattern: int = 1) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=kind,
        resource_name_filter=None,
        pattern_type_filter=pattern,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


@pytest.mark.parametrize("version", range(1, 4))
def test_without_an_authorizer_there_are_none_to_speak_of(version: int) -> None:
    response = Scene().ask(asked(), version)
    assert response.error_code == ErrorCode.SECURITY_DISABLED
    assert response.error_message


def test_rules_are_told_by_resource() -> None:
    scene = Scene(authorizer_class_name="org.example.Authorizer")
    rules = [creation("a", 3), creation("a", 4), creation("b", 3)]
    scene.ask(create_acls.CreateAclsRequest(creations=rules))
    response = scene.ask(asked())
    assert response.error_code == ErrorCode.NONE
    found = {one.resource_name: [acl.operation for acl in one.acls] for one in response.resources}
    assert found == {"a": [3, 4], "b": [3]}


def test_the_number_that_says_unknown_closes_the_connection() -> None:
    scene = Scene()
    for strange in (asked(kind=0), asked(pattern=0)):
        assert handle(scene.broker, scene.call(strange, 3, ALICE)) is CLOSE


def test_a_number_that_says_nothing_finds_nothing() -> None:
    scene = Scene(authorizer_class_name="org.example.Authorizer")
    scene.ask(create_acls.CreateAclsRequest(creations=[creation("a", 3)]))
    for strange in (asked(kind=99), asked(pattern=99)):
        response = scene.ask(strange)
        assert (response.error_code, response.resources) == (ErrorCode.NONE, [])
