"""TLS: keys, certificates, versions. What only a Java process has is declared and ignored."""

from __future__ import annotations

from quire.config.setting import (
    BROKER,
    LOW,
    MEDIUM,
    OFF,
    Settings,
    boolean,
    class_name,
    password,
    string,
    string_list,
)

STORES = frozenset(
    {
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.key.password",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
    }
)
"""Dynamic only for one listener, with its name before them."""


class SslSection(Settings):
    """TLS: keys, certificates, versions. What only a Java process has is declared and ignored."""

    # fmt: off
    ssl_protocol = string("TLSv1.3", MEDIUM, BROKER,
        doc="The newest TLS version that is offered.")
    ssl_enabled_protocols = string_list(("TLSv1.2", "TLSv1.3"), MEDIUM, BROKER, may_be_empty=True,
        doc="The TLS versions that are accepted.")
    ssl_cipher_suites = string_list((), MEDIUM, BROKER, may_be_empty=True,
        doc="The cipher suites that are accepted; empty means all of the library's.")
    ssl_provider = string(None, MEDIUM, BROKER,
        doc="The security provider of a Java process.")
    ssl_client_auth = string("none", MEDIUM, BROKER, one_of=("required", "requested", "none"),
        doc="Whether clients must show a certificate: required, requested or none.")
    ssl_keystore_type = string("JKS", MEDIUM, BROKER,
        doc="The form of the key store: JKS, PKCS12 or PEM.")
    ssl_keystore_location = string(None, MEDIUM, BROKER,
        doc="The file with the node's key and certificates.")
    ssl_keystore_password = password(None, MEDIUM, BROKER,
        doc="The password of the key store.")
    ssl_keystore_key = password(None, MEDIUM, BROKER,
        doc="The node's private key itself, as PEM.")
    ssl_keystore_certificate_chain = password(None, MEDIUM, BROKER,
        doc="The node's certificates themselves, as PEM.")
    ssl_key_password = password(None, MEDIUM, BROKER,
        doc="The password of the private key.")
    ssl_truststore_type = string("JKS", MEDIUM, BROKER,
        doc="The form of the trust store: JKS, PKCS12 or PEM.")
    ssl_truststore_location = string(None, MEDIUM, BROKER,
        doc="The file with the certificates that are trusted.")
    ssl_truststore_password = password(None, MEDIUM, BROKER,
        doc="The password of the trust store.")
    ssl_truststore_certificates = password(None, MEDIUM, BROKER,
        doc="The trusted certificates themselves, as PEM.")
    ssl_keymanager_algorithm = string("SunX509", MEDIUM, BROKER,
        doc="The key manager of a Java process.")
    ssl_trustmanager_algorithm = string("PKIX", MEDIUM, BROKER,
        doc="The trust manager of a Java process.")
    ssl_endpoint_identification_algorithm = string("https", LOW, BROKER,
        doc="How a peer's name is checked: https, or empty for not at all.")
    ssl_secure_random_implementation = string(None, LOW, BROKER,
        doc="The random source of a Java process.")
    ssl_engine_factory_class = class_name(None, LOW, BROKER,
        doc="What makes TLS engines in a Java process.")
    ssl_principal_mapping_rules = string("DEFAULT", LOW,
        doc="How the name in a certificate becomes a principal.")
    ssl_allow_dn_changes = boolean(OFF, LOW,
        doc="Let a new key store carry another distinguished name.")
    ssl_allow_san_changes = boolean(OFF, LOW,
        doc="Let a new key store carry other alternative names.")
    # fmt: on
