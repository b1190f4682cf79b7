"""Versions: what is asked of them in words, and bytes that no client would send."""

from __future__ import annotations

import random
import struct

from tests.compat.differential.case import Case, Frames, case

from quire.protocol.apis import APIS
from quire.protocol.messages.api_versions import ApiVersionsRequest

ANSWERED = 18


def frame(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def header(key: int, version: int, *, flexible: bool = False, client: bytes | None = b"c") -> bytes:
    named = struct.pack(">h", -1) if client is None else struct.pack(">h", len(client)) + client
    return struct.pack(">hhi", key, version, 7) + named + (b"\0" if flexible else b"")


ASKED = frame(header(ANSWERED, 0))
"""A good request: ApiVersions."""
METADATA = frame(header(3, 1) + struct.pack(">i", 0))

VERSIONS: list[Case] = [
    case("versions", ApiVersionsRequest(client_software_name="some", client_software_version="1.0")),
    case("versions: no name", ApiVersionsRequest(), since=3),
    case("versions: bad name", ApiVersionsRequest(
        client_software_name="a b", client_software_version="1"), since=3),
    case("versions: bad version", ApiVersionsRequest(
        client_software_name="a", client_software_version="-"), since=3),
    case("versions: dashes and dots", ApiVersionsRequest(
        client_software_name="a-b.c", client_software_version="1.2-x"), since=3),
]  # fmt: skip

SIZES: list[Frames] = [
    Frames("frame: size -1", struct.pack(">i", -1)),
    Frames("frame: size 0", struct.pack(">i", 0)),
    Frames("frame: the smallest size", struct.pack(">i", -(2**31))),
    Frames("frame: the largest size", struct.pack(">i", 2**31 - 1)),
    Frames("frame: one more than is taken", struct.pack(">i", 104_857_601)),
    Frames("frame: as much as is taken", struct.pack(">i", 104_857_600)),
    Frames("frame: half a size", b"\0\0", hangs_up=True),
    Frames("frame: half a request", ASKED[:9], hangs_up=True),
    Frames("frame: half a request, and silence", ASKED[:9]),
    Frames("frame: nothing", b"", hangs_up=True),
    Frames("frame: one byte", frame(b"\0")),
    Frames("frame: a key", frame(b"\0\x12")),
    Frames("frame: no client", frame(header(ANSWERED, 0)[:8])),
    Frames("frame: half a client", frame(header(ANSWERED, 0)[:10])),
    Frames("frame: null client", frame(header(ANSWERED, 0, client=None))),
    Frames("frame: client of negative length", frame(
        struct.pack(">hhih", ANSWERED, 0, 7, -2))),
    Frames("frame: client of huge length", frame(
        struct.pack(">hhih", ANSWERED, 0, 7, 32767) + b"c")),
    Frames("frame: client that is no text", frame(header(ANSWERED, 0, client=b"\xff\xfe"))),
    Frames("frame: good", ASKED),
    Frames("frame: good, then half of one", ASKED + ASKED[:5], hangs_up=True),
    Frames("frame: good, and bytes behind it", frame(header(ANSWERED, 0) + b"\0\0\0\0")),
    Frames("frame: metadata, and bytes behind it", frame(METADATA[4:] + b"\1\2\3")),
    Frames("frame: HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    Frames("frame: TLS", bytes.fromhex("160301020001fc0303") + bytes(100)),
]  # fmt: skip

COUNTS: list[Frames] = [
    Frames("count: metadata of 2^31-1 topics", frame(header(3, 1) + struct.pack(">i", 2**31 - 1))),
    Frames("count: metadata of -2 topics", frame(header(3, 1) + struct.pack(">i", -2))),
    Frames("count: metadata of a million topics", frame(header(3, 1) + struct.pack(">i", 10**6))),
    Frames("count: metadata of 2^32 topics, compact", frame(
        header(3, 12, flexible=True) + b"\xff\xff\xff\xff\x0f")),
    Frames("count: a number without end", frame(header(3, 12, flexible=True) + b"\xff" * 20)),
    Frames("count: 2^31 tags", frame(header(3, 12) + b"\xff\xff\xff\xff\x07")),
    Frames("count: produce to 2^31-1 topics", frame(
        header(0, 3) + struct.pack(">hhii", -1, -1, 1000, 2**31 - 1))),
    Frames("count: produce to a topic with a name of -5", frame(
        header(0, 3) + struct.pack(">hhiih", -1, -1, 1000, 1, -5))),
    Frames("count: produce of -2 bytes", frame(
        header(0, 3) + struct.pack(">hhiih", -1, -1, 1000, 1, 1) + b"t"
        + struct.pack(">iii", 1, 0, -2))),
    Frames("count: produce of 2^31-1 bytes", frame(
        header(0, 3) + struct.pack(">hhiih", -1, -1, 1000, 1, 1) + b"t"
        + struct.pack(">iii", 1, 0, 2**31 - 1))),
    Frames("count: fetch of 2^31-1 topics", frame(
        header(1, 4) + struct.pack(">iiiibi", -1, 0, 0, 1000, 0, 2**31 - 1))),
    Frames("count: create 2^31-1 topics", frame(header(19, 2) + struct.pack(">i", 2**31 - 1))),
    Frames("count: a flag that is 7", frame(
        header(19, 2) + struct.pack(">iiB", 0, 1000, 7))),
]  # fmt: skip


def wrong_versions() -> list[Frames]:
    """Each API below and above what is served, and keys that are no API's."""
    found = []
    for api in APIS.values():
        for version in (-1, api.lowest - 1, api.highest + 1, 32767):
            if api.key != ANSWERED or version < 0:
                content = header(api.key, version, flexible=version >= api.flexible)
                found.append(Frames(f"version: {api.name} {version}", frame(content + bytes(40))))
    found += [
        Frames(f"key: {key}", frame(header(key, 0) + bytes(20)))
        for key in (-1, -32768, 4, 5, 6, 7, 93, 94, 500, 32767)
    ]
    found += [
        Frames(f"version: ApiVersions {version}", frame(header(ANSWERED, version, flexible=True)))
        for version in (5, 6, 32767)
    ]
    return found


def noise(count: int = 60) -> list[Frames]:
    """Whole frames of random bytes."""
    draw = random.Random(17)
    return [
        Frames(f"noise: {number}", frame(draw.randbytes(draw.randrange(1, 200))))
        for number in range(count)
    ]


CASES = [*VERSIONS]
FRAMES = [*SIZES, *COUNTS, *wrong_versions(), *noise()]
