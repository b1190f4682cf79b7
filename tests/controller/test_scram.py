from __future__ import annotations

import hashlib

import pytest
from tests.controller.world import World, kinds

from quire.controller.scram import credential
from quire.errors import ErrorCode
from quire.protocol.messages import alter_user_scram_credentials as scram
from quire.protocol.messages.metadata_records import FeatureLevelRecord, UserScramCredentialRecord


def put(name="alice", mechanism=1, iterations=4096, salt=b"salt", salted=b"password"):
    return scram.ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=salted
    )


def drop(name="alice", mechanism=1):
    return scram.ScramCredentialDeletion(name=name, mechanism=mechanism)


def alter(world, *changes):
    request = scram.AlterUserScramCredentialsRequest(
        deletions=[one for one in changes if isinstance(one, scram.ScramCredentialDeletion)],
        upsertions=[one for one in changes if isinstance(one, scram.ScramCredentialUpsertion)],
    )
    return world.do(request)


def codes(decision):
    return {one.user: ErrorCode(one.error_code).name for one in decision.response.results}


def test_what_is_stored_is_what_the_rfcs_example_says():
    """RFC 7677, section 3: user "user", password "pencil"."""
    import base64
    import hmac

    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096)
    record = credential(put("user", salt=salt, salted=salted))
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    message = (
        "n=user,r=rOprNGfwEbeRWgbNEkqO,"
        f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}"
    ).encode()
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    signature = hmac.digest(record.stored_key, message, "sha256")
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == record.stored_key
    assert base64.b64encode(hmac.digest(record.server_key, message, "sha256")) == (
        b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    )


def test_credentials_are_put_replaced_and_dropped():
    world = World()
    decision = alter(world, put(), put("bob"))
    assert kinds(decision) == ["UserScramCredential"] * 2
    assert codes(decision) == {"alice": "NONE", "bob": "NONE"}
    alter(world, put(mechanism=2))
    assert {(key.name, key.mechanism) for key in world.image.scram} == {
        ("alice", 1), ("alice", 2), ("bob", 1),
    }  # fmt: skip
    assert isinstance(world.log[-1].message, UserScramCredentialRecord)
    alter(world, put(mechanism=2, iterations=8192))
    alter(world, drop())
    assert {key.name: value.iterations for key, value in world.image.scram.items()} == {
        "alice": 8192, "bob": 4096,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (put(""), "UNACCEPTABLE_CREDENTIAL"),
        (put(mechanism=9), "UNSUPPORTED_SASL_MECHANISM"),
        (drop(mechanism=0), "UNSUPPORTED_SASL_MECHANISM"),
        (put(iterations=4095), "UNACCEPTABLE_CREDENTIAL"),
        (put(iterations=16385), "UNACCEPTABLE_CREDENTIAL"),
        (put(salted=b""), "UNACCEPTABLE_CREDENTIAL"),
        (drop(), "RESOURCE_NOT_FOUND"),
    ],
)
def test_credentials_that_cannot_be_are_refused(change, code):
    decision = alter(World(), change)
    assert decision.records == ()
    assert codes(decision) == {change.name: code}


def test_a_user_has_one_change_in_a_request():
    decision = alter(World(), put(), put(mechanism=2), put("bob"))
    assert codes(decision) == {"alice": "DUPLICATE_RESOURCE", "bob": "NONE"}
    assert [record.message.name for record in decision.records] == ["bob"]
    assert codes(alter(World(), put(), drop())) == {"alice": "DUPLICATE_RESOURCE"}


def test_older_levels_have_no_credentials():
    world = World(activate=False)
    bootstrap = [FeatureLevelRecord(name="metadata.version", feature_level=10)]
    world.take(world.controller.activate(now_ms=0, next_offset=0, bootstrap=bootstrap))
    assert codes(alter(world, put())) == {"alice": "UNSUPPORTED_VERSION"}
