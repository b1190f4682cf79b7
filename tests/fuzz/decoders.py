"""Throws broken bytes at every decoder; each must answer with a message or a ProtocolError.

Valid encodings are cut, spliced and given absurd lengths; some inputs are plain noise. The same
seed gives the same inputs. To run longer than the tests do, from the root of the repository:

    PYTHONPATH=src python tests/fuzz/decoders.py --seconds 60 --seed 7

A finding is printed as a line for tests/fuzz/corpus/decoders.txt, which the tests replay.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent / "protocol"))

from message_values import random_message  # noqa: E402 -- the path must be known first

from quire.errors import ProtocolError  # noqa: E402
from quire.protocol.apis import Listener  # noqa: E402
from quire.protocol.compiler import codec  # noqa: E402
from quire.protocol.connection import ServerFraming  # noqa: E402
from quire.protocol.messages import MESSAGES  # noqa: E402
from quire.protocol.schema import declaration_of  # noqa: E402

CORPUS = HERE / "corpus" / "decoders.txt"
NAMES = sorted(MESSAGES)
EXTREMES = (
    *(struct.pack(">i", value) for value in (-1, -2, 2**31 - 1, -(2**31), 2**24, 255)),
    *(struct.pack(">h", value) for value in (-1, 2**15 - 1, -(2**15))),
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x80\x01",
    b"\xfe\xff\xff\xff\x07",
)


def attempt(name: str, version: int, data: bytes) -> bool:
    """Whether `data` is a message; anything but that or a ProtocolError is raised."""
    one = codec(MESSAGES[name], version)
    try:
        message, end = one.decode(data)
    except ProtocolError as refused:
        if refused.position is None or not 0 <= refused.position <= len(data) + 8:
            raise AssertionError(f"a position outside the input: {refused.position}") from refused
        return False
    assert 0 <= end <= len(data)
    encoded = one.encode(message)
    again, end = one.decode(encoded)
    assert end == len(encoded)
    assert one.encode(again) == encoded
    return True


def attempt_header(data: bytes) -> bool:
    """Whether `data` is a frame with a request in it."""
    try:
        ServerFraming(Listener.BROKER).parse(data).decode()
    except ProtocolError:
        return False
    return True


def mutate(data: bytes, chance: random.Random) -> bytes:
    """One to four wounds."""
    wounded = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(wounded))
        match chance.randrange(6):
            case 0 if wounded:
                wounded[at % len(wounded)] = chance.randrange(256)
            case 1:
                del wounded[at:]
            case 2:
                extreme = chance.choice(EXTREMES)
                wounded[at : at + len(extreme)] = extreme
            case 3:
                wounded[at:at] = chance.randbytes(chance.randint(1, 8))
            case 4:
                del wounded[at : at + chance.randint(1, 8)]
            case _:
                source = chance.randint(0, len(wounded))
                wounded[at:at] = wounded[source : source + chance.randint(1, 30)]
    return bytes(wounded)


def one_input(chance: random.Random) -> tuple[str, int, bytes]:
    """A message, a version of it, and bytes for its decoder."""
    name = chance.choice(NAMES)
    version = chance.choice(declaration_of(MESSAGES[name]).versions)
    if chance.random() < 0.1:
        return name, version, chance.randbytes(chance.randint(0, 60))
    valid = codec(MESSAGES[name], version).encode(random_message(MESSAGES[name], version, chance))
    return name, version, mutate(valid, chance)


def run(seed: int, *, iterations: int | None = None, seconds: float | None = None) -> int:
    """Try inputs until either bound is reached; how many were tried."""
    chance = random.Random(seed)
    deadline = None if seconds is None else time.monotonic() + seconds
    tried = 0
    while tried != iterations and (deadline is None or time.monotonic() < deadline):
        name, version, data = one_input(chance)
        try:
            attempt(name, version, data)
            attempt_header(data)
        except BaseException:
            print(f"{name} {version} {data.hex() or '-'}", file=sys.stderr)
            raise
        tried += 1
    return tried


def corpus() -> list[tuple[str, int, bytes]]:
    """The inputs that are kept: `Message version hex`, one a line, `-` for no bytes."""
    kept = []
    for line in CORPUS.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            name, version, data = words
            kept.append((name, int(version), bytes.fromhex("" if data == "-" else data)))
    return kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    count = run(chosen.seed, seconds=chosen.seconds)
    print(f"{count} inputs, seed {chosen.seed}: each a message or a typed error")
