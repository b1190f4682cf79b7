"""Authorizer, principals, delegation tokens, SASL and Kerberos."""

from __future__ import annotations

from quire.config.setting import (
    BROKER,
    DAY,
    HIGH,
    HOUR,
    KIB,
    LOW,
    MEDIUM,
    SECOND,
    Settings,
    class_name,
    double,
    integer,
    long,
    password,
    short,
    string,
    string_list,
)


class SecuritySection(Settings):
    """Authorizer, principals, delegation tokens, SASL and Kerberos."""

    # fmt: off
    authorizer_class_name = string("", LOW,
        doc="What decides who may do what; empty means everybody may do everything.")
    principal_builder_class = class_name(
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", MEDIUM,
        BROKER,
        doc="What makes a principal of a connection.")
    security_providers = string(None, LOW,
        doc="Factories of security providers of a Java process.")
    connections_max_reauth_ms = long(0,
        doc="How long an authentication lasts; 0 means for as long as the connection.")
    delegation_token_secret_key = password(None,
        doc="The key that delegation tokens are made with, the same on all nodes.")
    delegation_token_max_lifetime_ms = long(7 * DAY, at_least=1,
        doc="How long a delegation token may live, renewed or not.")
    delegation_token_expiry_time_ms = long(DAY, at_least=1,
        doc="How long a delegation token lives until it must be renewed.")
    delegation_token_expiry_check_interval_ms = long(HOUR, LOW, at_least=1,
        doc="How often expired delegation tokens are removed.")
    sasl_enabled_mechanisms = string_list(("GSSAPI",), MEDIUM, BROKER, may_be_empty=True,
        doc="The SASL mechanisms that clients may use.")
    sasl_mechanism_inter_broker_protocol = string("GSSAPI", MEDIUM, BROKER,
        doc="The SASL mechanism among brokers.")
    sasl_mechanism_controller_protocol = string("GSSAPI", HIGH,
        doc="The SASL mechanism towards controllers.")
    sasl_jaas_config = password(None, MEDIUM, BROKER,
        doc="The login of a mechanism, in the form of a JAAS file; per listener and mechanism.")
    sasl_server_max_receive_size = integer(512 * KIB,
        doc="The largest SASL message that is read before authentication.")
    sasl_client_callback_handler_class = class_name(None,
        doc="What answers the questions of a SASL client.")
    sasl_server_callback_handler_class = class_name(None,
        doc="What answers the questions of a SASL server.")
    sasl_login_class = class_name(None,
        doc="What logs in.")
    sasl_login_callback_handler_class = class_name(None,
        doc="What answers the questions of a login.")
    sasl_login_connect_timeout_ms = integer(None, LOW,
        doc="How long connecting to the provider of logins may take.")
    sasl_login_read_timeout_ms = integer(None, LOW,
        doc="How long reading from the provider of logins may take.")
    sasl_login_refresh_window_factor = double(0.8, MEDIUM, BROKER,
        doc="The part of a login's lifetime after which it is renewed.")
    sasl_login_refresh_window_jitter = double(0.05, MEDIUM, BROKER,
        doc="How much that part varies by chance.")
    sasl_login_refresh_min_period_seconds = short(60, MEDIUM, BROKER,
        doc="How long a login is kept at least before it is renewed.")
    sasl_login_refresh_buffer_seconds = short(300, MEDIUM, BROKER,
        doc="How long before its end a login is renewed at the latest.")
    sasl_login_retry_backoff_ms = long(100, LOW,
        doc="The first rest between two tries to log in.")
    sasl_login_retry_backoff_max_ms = long(10 * SECOND, LOW,
        doc="The longest rest between two tries to log in.")
    sasl_kerberos_service_name = string(None, MEDIUM, BROKER,
        doc="The name of the Kerberos service that the node runs as.")
    sasl_kerberos_kinit_cmd = string("/usr/bin/kinit", MEDIUM, BROKER,
        doc="The path of kinit.")
    sasl_kerberos_ticket_renew_window_factor = double(0.8, MEDIUM, BROKER,
        doc="The part of a ticket's lifetime after which it is renewed.")
    sasl_kerberos_ticket_renew_jitter = double(0.05, MEDIUM, BROKER,
        doc="How much that part varies by chance.")
    sasl_kerberos_min_time_before_relogin = long(60_000, MEDIUM, BROKER,
        doc="How long a login thread sleeps between two tries.")
    sasl_kerberos_principal_to_local_rules = string_list(
        ("DEFAULT",), MEDIUM, BROKER, may_be_empty=True,
        doc="How a Kerberos principal becomes a short name.")
    # fmt: on
