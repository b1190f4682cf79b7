from __future__ import annotations

from quire.config.broker.security import SecuritySection


def test_everybody_may_do_everything_without_an_authorizer() -> None:
    assert SecuritySection.of({}).authorizer_class_name == ""


def test_logins_and_token_keys_are_secrets() -> None:
    secrets = {name for name, one in SecuritySection.declared.items() if one.sensitive}
    assert secrets == {"delegation.token.secret.key", "sasl.jaas.config"}
