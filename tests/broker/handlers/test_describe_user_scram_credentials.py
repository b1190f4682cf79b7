from __future__ import annotations

from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_user_scram_credentials as changing
from quire.protocol.messages import describe_user_scram_credentials as scram


def with_users(*users: tuple[str, int]) -> Scene:
    scene = Scene()
    for name, mechanism in users:
        put = changing.ScramCredentialUpsertion(
            name=name, mechanism=mechanism, iterations=5000, salt=b"s", salted_password=b"p" * 32
        )
        scene.ask(changing.AlterUserScramCredentialsRequest(deletions=[], upsertions=[put]))
    return scene


def of(*names: str) -> scram.DescribeUserScramCredentialsRequest:
    return scram.DescribeUserScramCredentialsRequest(
        users=[scram.UserName(name=name) for name in names]
    )


def test_users_are_told_with_their_mechanisms() -> None:
    scene = with_users(("alice", 1), ("alice", 2), ("bob", 2))
    everybody = scram.DescribeUserScramCredentialsRequest(users=None)
    for request in (everybody, of(), of("alice", "bob")):
        found = {
            one.user: [(info.mechanism, info.iterations) for info in one.credential_infos]
            for one in scene.ask(request).results
        }
        assert found == {"alice": [(1, 5000), (2, 5000)], "bob": [(2, 5000)]}


def test_who_is_not_there_or_named_twice() -> None:
    scene = with_users(("alice", 1))
    found = {one.user: one.error_code for one in scene.ask(of("nobody", "alice", "alice")).results}
    assert found == {
        "nobody": ErrorCode.RESOURCE_NOT_FOUND,
        "alice": ErrorCode.DUPLICATE_RESOURCE,
    }
