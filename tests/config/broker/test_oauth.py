from __future__ import annotations

from quire.config.broker.oauth import OauthSection


def test_client_secrets_are_secrets() -> None:
    secrets = {name for name, one in OauthSection.declared.items() if one.sensitive}
    assert secrets == {
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.client.credentials.client.secret",
    }


def test_an_algorithm_is_read_in_any_case() -> None:
    given = {"sasl.oauthbearer.assertion.algorithm": "es256"}
    assert OauthSection.of(given).sasl_oauthbearer_assertion_algorithm == "es256"
