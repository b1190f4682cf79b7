"""Listeners, sockets and the limits of connections and requests."""

from __future__ import annotations

from quire.config.setting import (
    BROKER,
    CLUSTER,
    HIGH,
    KIB,
    LOW,
    MEDIUM,
    MIB,
    MINUTE,
    SECOND,
    Settings,
    integer,
    long,
    string,
    string_list,
)
from quire.config.values import MAX_INT


class NetworkSection(Settings):
    """Listeners, sockets and the limits of connections and requests."""

    # fmt: off
    listeners = string_list(("PLAINTEXT://:9092",), HIGH, BROKER,
        doc="Where the node listens: name://host:port, by commas; no host means all interfaces.")
    advertised_listeners = string_list(None, HIGH,
        doc="The addresses that clients are told; unset means those of listeners.")
    listener_security_protocol_map = string(
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", LOW,
        BROKER,
        doc="Which security protocol each listener speaks.")
    inter_broker_listener_name = string(None,
        doc="The listener that brokers use among themselves.")
    security_inter_broker_protocol = string(
        "PLAINTEXT", one_of=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        doc="The protocol among brokers, where no listener is named for it.")
    early_start_listeners = string_list(None, HIGH, may_be_empty=True,
        doc="Listeners that open before the authorizer is ready.")
    num_network_threads = integer(3, HIGH, CLUSTER, at_least=1,
        doc="Threads that Apache Kafka reads and writes sockets with.")
    num_io_threads = integer(8, HIGH, CLUSTER, at_least=1,
        doc="Threads that Apache Kafka handles requests with.")
    queued_max_requests = integer(500, HIGH, at_least=1,
        doc="Requests that may wait before reading from the network pauses.")
    queued_max_request_bytes = long(-1,
        doc="Bytes of requests that may wait before reading pauses; -1 means no limit.")
    socket_send_buffer_bytes = integer(100 * KIB, HIGH,
        doc="The socket's send buffer; -1 leaves it to the system.")
    socket_receive_buffer_bytes = integer(100 * KIB, HIGH,
        doc="The socket's receive buffer; -1 leaves it to the system.")
    socket_request_max_bytes = integer(100 * MIB, HIGH, at_least=1,
        doc="The largest request that is read; a larger one closes the connection.")
    socket_listen_backlog_size = integer(50, at_least=1,
        doc="Connections that may wait to be accepted.")
    socket_connection_setup_timeout_ms = long(10 * SECOND,
        doc="How long connecting to another node may take at first.")
    socket_connection_setup_timeout_max_ms = long(30 * SECOND,
        doc="How long connecting to another node may take at last.")
    max_connections = integer(MAX_INT, MEDIUM, CLUSTER, at_least=0,
        doc="Connections that the broker takes; per listener with its prefix.")
    max_connections_per_ip = integer(MAX_INT, MEDIUM, CLUSTER, at_least=0,
        doc="Connections that are taken from one address.")
    max_connections_per_ip_overrides = string("", MEDIUM, CLUSTER,
        doc="Exceptions from max.connections.per.ip: address:count, separated by commas.")
    max_connection_creation_rate = integer(MAX_INT, MEDIUM, CLUSTER, at_least=0,
        doc="New connections per second that the broker takes; per listener with its prefix.")
    connections_max_idle_ms = long(10 * MINUTE,
        doc="A connection that is idle for so long is closed; -1 means never.")
    connection_failed_authentication_delay_ms = integer(100, LOW, at_least=0,
        doc="How long the answer to a failed authentication is held back.")
    fetch_max_bytes = integer(55 * MIB, at_least=KIB,
        doc="The most bytes that one fetch is answered with.")
    # fmt: on
