"""The limits of clients, as stored for users, client ids and addresses.

See        KIP-13, KIP-257, KIP-599, KIP-612
"""

from __future__ import annotations

from quire.config.setting import Settings, double, integer, long
from quire.config.values import MAX_INT, MAX_LONG


class ClientQuotas(Settings):
    """The limits of a user, of a client id, or of both."""

    # fmt: off
    producer_byte_rate = long(MAX_LONG, name="producer_byte_rate",
        doc="Bytes per second that a client may produce.")
    consumer_byte_rate = long(MAX_LONG, name="consumer_byte_rate",
        doc="Bytes per second that a client may fetch.")
    request_percentage = double(float(MAX_INT), name="request_percentage",
        doc="Percent of one request-handling thread's time that a client may use.")
    controller_mutation_rate = double(float(MAX_INT), name="controller_mutation_rate",
        doc="Topics and partitions per second that a client may create and delete.")
    # fmt: on


class AddressQuotas(Settings):
    """The limits of an address."""

    # fmt: off
    connection_creation_rate = integer(MAX_INT, at_least=0, name="connection_creation_rate",
        doc="Connections per second that an address may open.")
    # fmt: on
