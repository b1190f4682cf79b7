from __future__ import annotations

from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_user_scram_credentials as scram


def test_the_controller_stores_credentials() -> None:
    scene = Scene()
    request = scram.AlterUserScramCredentialsRequest(
        deletions=[scram.ScramCredentialDeletion(name="bob", mechanism=1)],
        upsertions=[
            scram.ScramCredentialUpsertion(
                name="alice", mechanism=1, iterations=4096, salt=b"s", salted_password=b"p" * 32
            )
        ],
    )
    found = {one.user: one.error_code for one in scene.ask(request).results}
    assert found == {"bob": ErrorCode.RESOURCE_NOT_FOUND, "alice": ErrorCode.NONE}
    assert [key.name for key in scene.broker.image.scram] == ["alice"]
