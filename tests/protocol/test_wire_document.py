"""The example in docs/formats/wire.md is what the codecs write and read."""

from __future__ import annotations

import re
from pathlib import Path

from quire.protocol.apis import Listener
from quire.protocol.connection import ClientFraming, ServerFraming
from quire.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

DOCUMENT = Path(__file__).parents[2] / "docs" / "formats" / "wire.md"


def bytes_of_the_example() -> bytes:
    found = re.search(r"```hex\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    data = b""
    for line in found.group(1).splitlines():
        hexadecimal = re.match(r"(?:[0-9a-f]{2} {1,2})*[0-9a-f]{2}(?=\s\s|$)", line)
        assert hexadecimal is not None, line
        data += bytes.fromhex(hexadecimal.group().replace(" ", ""))
    return data


def test_the_example_is_what_we_write_and_read():
    frame = bytes_of_the_example()
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name="orders")],
        include_topic_authorized_operations=False,
    )
    _, pieces = ClientFraming("quire").encode_request(request, 12)
    assert b"".join(pieces) == frame
    read = ServerFraming(Listener.BROKER).parse(frame[4:])
    assert (read.api.name, read.version, read.client_id) == ("Metadata", 12, "quire")
    assert read.decode() == request
