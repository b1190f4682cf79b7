"""Quotas, credentials, access rules, delegation tokens, and SASL where nobody asked for it."""

from __future__ import annotations

from typing import Any

from tests.compat.differential.case import Case, case

from quire.protocol.messages import alter_client_quotas as limiting
from quire.protocol.messages import alter_user_scram_credentials as crediting
from quire.protocol.messages import create_acls, delete_acls, describe_acls
from quire.protocol.messages import create_delegation_token as token
from quire.protocol.messages import describe_client_quotas as limits
from quire.protocol.messages import describe_delegation_token as tokens
from quire.protocol.messages import describe_user_scram_credentials as credentials
from quire.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from quire.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from quire.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from quire.protocol.messages.sasl_handshake import SaslHandshakeRequest

EXACT, DEFAULT, ANY = range(3)
Entity = list[tuple[str, str | None]]


def entry(entity: Entity, *values: tuple[str, float | None]) -> Any:
    return limiting.AlterClientQuotasRequestEntryData(
        entity=[
            limiting.AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name)
            for kind, name in entity
        ],
        ops=[
            limiting.OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values
        ],
    )


def limit(*entries: Any, validate_only: bool = False) -> Any:
    return limiting.AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)


def find(*parts: tuple[str, int, str | None], strict: bool = False) -> Any:
    return limits.DescribeClientQuotasRequest(
        components=[
            limits.ComponentData(entity_type=kind, match_type=how, match=match)
            for kind, how, match in parts
        ],
        strict=strict,
    )


ALICE: Entity = [("user", "alice")]

QUOTAS: list[Case] = [
    case("limit: a user", limit(entry(ALICE, ("producer_byte_rate", 1024.0)))),
    case("limit: some", limit(
        entry([("user", None)], ("consumer_byte_rate", 2048.0)),
        entry([("client-id", "app")], ("request_percentage", 12.5)),
        entry([("user", "alice"), ("client-id", "app")], ("controller_mutation_rate", 3.5)),
        entry([("user", "alice"), ("client-id", None)], ("producer_byte_rate", 5.0)),
        entry([("ip", "127.0.0.9")], ("connection_creation_rate", 10.0)),
        entry([("ip", None)], ("connection_creation_rate", 20.0)))),
    case("limit: validate only", limit(entry(ALICE, ("producer_byte_rate", 1.0)), validate_only=True)),
    case("limit: unknown key", limit(entry(ALICE, ("no_such", 1.0)))),
    case("limit: wrong kind of key", limit(entry(ALICE, ("connection_creation_rate", 1.0)))),
    case("limit: wrong kind for an address", limit(
        entry([("ip", "127.0.0.9")], ("producer_byte_rate", 1.0)))),
    case("limit: not a host", limit(
        entry([("ip", "no host/1")], ("connection_creation_rate", 1.0)))),
    case("limit: half a byte", limit(entry(ALICE, ("producer_byte_rate", 1.5)))),
    case("limit: nearly whole", limit(entry(ALICE, ("producer_byte_rate", 1.0000001)))),
    case("limit: zero", limit(entry(ALICE, ("producer_byte_rate", 0.0)))),
    case("limit: negative", limit(entry(ALICE, ("producer_byte_rate", -1.0)))),
    case("limit: not a number", limit(
        entry([("user", "nan")], ("request_percentage", float("nan"))), validate_only=True)),
    case("limit: endless", limit(entry(ALICE, ("producer_byte_rate", float("inf"))))),
    case("limit: very much", limit(entry(ALICE, ("producer_byte_rate", 1e300)))),
    case("limit: remove what is not there", limit(entry([("user", "bob")], ("producer_byte_rate", None)))),
    case("limit: remove an unknown key", limit(entry(ALICE, ("no_such", None)))),
    case("limit: no operations", limit(entry(ALICE))),
    case("limit: a key twice", limit(
        entry(ALICE, ("producer_byte_rate", 1.0), ("producer_byte_rate", 1024.0)))),
    case("limit: an entity twice", limit(  # Kafka refuses it, and writes the first all the same
        entry(ALICE, ("producer_byte_rate", 1.0000001)),
        entry(ALICE, ("consumer_byte_rate", 7.0)))),
    case("limit: no entity", limit(entry([], ("producer_byte_rate", 1.0)))),
    case("limit: empty name", limit(entry([("user", "")], ("producer_byte_rate", 1.0)))),
    case("limit: unknown type", limit(entry([("group", "x")], ("producer_byte_rate", 1.0)))),
    case("limit: a type twice", limit(
        entry([("user", "a"), ("user", "b")], ("producer_byte_rate", 1.0)))),
    case("limit: address and user", limit(
        entry([("ip", "127.0.0.1"), ("user", "b")], ("connection_creation_rate", 1.0)))),
    case("limit: nothing", limit()),
    case("limits: all", find()),
    case("limits: all, strictly", find(strict=True)),
    case("limits: a user", find(("user", EXACT, "alice"))),
    case("limits: a user, strictly", find(("user", EXACT, "alice"), strict=True)),
    case("limits: default user", find(("user", DEFAULT, None))),
    case("limits: default user with a match", find(("user", DEFAULT, "alice"))),
    case("limits: any user", find(("user", ANY, None))),
    case("limits: any user, strictly", find(("user", ANY, None), strict=True)),
    case("limits: any user with a match", find(("user", ANY, "alice"))),
    case("limits: any pair", find(("user", ANY, None), ("client-id", ANY, None))),
    case("limits: a pair", find(("user", EXACT, "alice"), ("client-id", DEFAULT, None))),
    case("limits: any address", find(("ip", ANY, None))),
    case("limits: address and user", find(("ip", ANY, None), ("user", ANY, None))),
    case("limits: exactly nobody", find(("user", EXACT, None))),
    case("limits: unknown match", find(("user", 9, None))),
    case("limits: unknown type", find(("group", ANY, None))),
    case("limits: no type", find(("", ANY, None))),
    case("limits: a type twice", find(("user", ANY, None), ("user", ANY, None))),
    case("limits: nobody", find(("user", EXACT, "nobody"))),
    case("limit: all removed", limit(
        entry(ALICE, ("producer_byte_rate", None)),
        entry([("user", None)], ("consumer_byte_rate", None)),
        entry([("client-id", "app")], ("request_percentage", None)),
        entry([("ip", None)], ("connection_creation_rate", None)))),
    case("limits: fewer", find()),
]  # fmt: skip


def credit(*upsertions: Any, deletions: list[tuple[str, int]] | None = None) -> Any:
    return crediting.AlterUserScramCredentialsRequest(
        deletions=[
            crediting.ScramCredentialDeletion(name=name, mechanism=mechanism)
            for name, mechanism in deletions or []
        ],
        upsertions=list(upsertions),
    )


def put(name: str, mechanism: int = 1, iterations: int = 4096, **more: bytes) -> Any:
    return crediting.ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=more.get("salt", b"salt"),
        salted_password=more.get("password", b"p" * 32),
    )


def credentials_of(*names: str) -> Any:
    return credentials.DescribeUserScramCredentialsRequest(
        users=[credentials.UserName(name=name) for name in names]
    )


CREDENTIALS: list[Case] = [
    case("credit: nobody has any", credentials.DescribeUserScramCredentialsRequest(users=None)),
    case("credit", credit(put("alice"), put("bob", 2), put("bob", 1))),
    case("credit: too few rounds", credit(put("carl", 1, 4095))),
    case("credit: too many rounds", credit(put("carl", 1, 16385))),
    case("credit: unknown mechanism", credit(put("carl", 3))),
    case("credit: mechanism 0", credit(put("carl", 0))),
    case("credit: no name", credit(put(""))),
    case("credit: no salt", credit(put("carl", salt=b""))),
    case("credit: no password", credit(put("carl", password=b""))),
    case("credit: short password", credit(put("dora", password=b"x"))),
    case("credit: the same twice", credit(put("carl"), put("carl"))),
    case("credit: put and deleted", credit(put("alice"), deletions=[("alice", 1)])),
    case("credit: delete what is not there", credit(deletions=[("carl", 1)])),
    case("credit: delete another mechanism", credit(deletions=[("alice", 2)])),
    case("credit: delete unknown mechanism", credit(deletions=[("alice", 9)])),
    case("credit: delete without a name", credit(deletions=[("", 1)])),
    case("credit: good and bad", credit(put("erna"), put("", 1), deletions=[("no-such", 1)])),
    case("credit: nothing", credit()),
    case("credits: all", credentials.DescribeUserScramCredentialsRequest(users=None)),
    case("credits: some", credentials_of("alice", "bob")),
    case("credits: all by an empty list", credentials_of()),
    case("credits: nobody", credentials_of("nobody", "alice")),
    case("credits: twice", credentials_of("alice", "alice", "bob")),
    case("credits: no name", credentials_of("")),
    case("credit: delete", credit(deletions=[("bob", 2)])),
    case("credits: fewer", credentials_of("bob")),
]


def rule(kind: int = 2, name: str = "t", v: int = 3, **more: Any) -> Any:
    del v
    return create_acls.AclCreation(
        resource_type=kind,
        resource_name=name,
        principal=more.get("principal", "User:alice"),
        host="*",
        operation=more.get("operation", 3),
        permission_type=3,
    )


ALL_RULES: dict[str, Any] = {
    "resource_type_filter": 1, "resource_name_filter": None, "principal_filter": None,
    "host_filter": None, "operation": 1, "permission_type": 1,
}  # fmt: skip

RULES: list[Case] = [
    case("rules: all", describe_acls.DescribeAclsRequest(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=3,
        principal_filter=None, host_filter=None, operation=1, permission_type=1)),
    case("rules: unknown kinds", describe_acls.DescribeAclsRequest(
        resource_type_filter=0, resource_name_filter=None, pattern_type_filter=3,
        principal_filter=None, host_filter=None, operation=1, permission_type=1)),
    case("rule: one", create_acls.CreateAclsRequest(creations=[rule()])),
    case("rule: some", create_acls.CreateAclsRequest(creations=[rule(), rule(name="")])),
    case("rule: unknown kind", create_acls.CreateAclsRequest(creations=[rule(0)])),
    case("rule: no such kind", create_acls.CreateAclsRequest(creations=[rule(99)])),
    case("rule: no such operation", create_acls.CreateAclsRequest(creations=[rule(operation=99)])),
    case("rule: none", create_acls.CreateAclsRequest(creations=[])),
    case("rule: removed", delete_acls.DeleteAclsRequest(filters=[delete_acls.DeleteAclsFilter(
        resource_type_filter=1, resource_name_filter=None, principal_filter=None,
        host_filter=None, operation=1, permission_type=1)])),
    *(case(f"rule: removed by {what} {number}", delete_acls.DeleteAclsRequest(filters=[
        delete_acls.DeleteAclsFilter(**{**ALL_RULES, what: number})]))
      for what in ("resource_type_filter", "operation", "permission_type") for number in (0, 99)),
    *(case(f"rules: {what} {number}", describe_acls.DescribeAclsRequest(
        **{**ALL_RULES, "pattern_type_filter": 3, what: number}))
      for what in ("resource_type_filter", "operation", "permission_type") for number in (0, 99)),
    case("rule: none removed", delete_acls.DeleteAclsRequest(filters=[])),
]  # fmt: skip


def new_token(v: int, **more: Any) -> Any:
    owner = more if v >= 3 else {}
    return token.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1, **owner)


TOKENS: list[Case] = [
    case("token", new_token),
    case("token: for another", lambda v: new_token(
        v, owner_principal_type="User", owner_principal_name="alice")),
    case("token: renewed by others", token.CreateDelegationTokenRequest(renewers=[
        token.CreatableRenewers(principal_type="Group", principal_name="x")], max_lifetime_ms=1)),
    case("token: renew", RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1)),
    case("token: expire", ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1)),
    case("tokens: all", tokens.DescribeDelegationTokenRequest(owners=None)),
    case("tokens: of nobody", tokens.DescribeDelegationTokenRequest(owners=[])),
    case("tokens: of somebody", tokens.DescribeDelegationTokenRequest(owners=[
        tokens.DescribeDelegationTokenOwner(principal_type="User", principal_name="a")])),
]  # fmt: skip

SASL: list[Case] = [
    case("sasl: handshake", SaslHandshakeRequest(mechanism="PLAIN")),
    case("sasl: no mechanism", SaslHandshakeRequest(mechanism="")),
    case("sasl: authenticate", SaslAuthenticateRequest(auth_bytes=b"\0a\0b")),
]

CASES = [*QUOTAS, *CREDENTIALS, *RULES, *TOKENS, *SASL]
