"""OAuth bearer tokens (KIP-768, KIP-1139)."""

from __future__ import annotations

from quire.config.setting import (
    HOUR,
    LOW,
    OFF,
    SECOND,
    Settings,
    boolean,
    class_name,
    integer,
    long,
    password,
    string,
    string_list,
)


class OauthSection(Settings):
    """OAuth bearer tokens (KIP-768, KIP-1139)."""

    # fmt: off
    sasl_oauthbearer_token_endpoint_url = string(None,
        doc="Where tokens come from.")
    sasl_oauthbearer_scope = string(None,
        doc="The scope that a token is asked for.")
    sasl_oauthbearer_scope_claim_name = string("scope", LOW,
        doc="The claim that carries the scope.")
    sasl_oauthbearer_sub_claim_name = string("sub", LOW,
        doc="The claim that carries the subject.")
    sasl_oauthbearer_expected_audience = string_list((), LOW, may_be_empty=True,
        doc="Audiences that a token may be made for; empty means any.")
    sasl_oauthbearer_expected_issuer = string(None, LOW,
        doc="Who must have made a token; unset means anybody.")
    sasl_oauthbearer_clock_skew_seconds = integer(30, LOW,
        doc="How far the clocks of issuer and broker may differ.")
    sasl_oauthbearer_jwks_endpoint_url = string(None,
        doc="Where the keys are that tokens are verified with.")
    sasl_oauthbearer_jwks_endpoint_refresh_ms = long(HOUR, LOW,
        doc="How often those keys are fetched anew.")
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms = long(100, LOW,
        doc="The first rest between two tries to fetch them.")
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms = long(10 * SECOND, LOW,
        doc="The longest rest between two tries to fetch them.")
    sasl_oauthbearer_jwt_retriever_class = class_name(
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        doc="What fetches tokens.")
    sasl_oauthbearer_jwt_validator_class = class_name(
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        doc="What verifies tokens.")
    sasl_oauthbearer_client_credentials_client_id = string(None,
        doc="The client id of the client-credentials grant.")
    sasl_oauthbearer_client_credentials_client_secret = password(None,
        doc="The client secret of the client-credentials grant.")
    sasl_oauthbearer_assertion_algorithm = string(
        "RS256", one_of=("ES256", "RS256"), any_case=True,
        doc="What an assertion is signed with: RS256 or ES256.")
    sasl_oauthbearer_assertion_file = string(None,
        doc="The file with a ready assertion.")
    sasl_oauthbearer_assertion_template_file = string(None,
        doc="The file with the fixed parts of an assertion.")
    sasl_oauthbearer_assertion_private_key_file = string(None,
        doc="The file with the key that signs an assertion.")
    sasl_oauthbearer_assertion_private_key_passphrase = password(None,
        doc="The passphrase of that key.")
    sasl_oauthbearer_assertion_claim_aud = string(None,
        doc="The audience of an assertion.")
    sasl_oauthbearer_assertion_claim_iss = string(None,
        doc="The issuer of an assertion.")
    sasl_oauthbearer_assertion_claim_sub = string(None,
        doc="The subject of an assertion.")
    sasl_oauthbearer_assertion_claim_exp_seconds = integer(300, LOW, at_least=0, at_most=86_400,
        doc="How long an assertion is valid.")
    sasl_oauthbearer_assertion_claim_nbf_seconds = integer(60, LOW, at_least=0, at_most=3_600,
        doc="How long before it is made an assertion is already valid.")
    sasl_oauthbearer_assertion_claim_jti_include = boolean(OFF,
        doc="Give each assertion an id of its own.")
    # fmt: on
