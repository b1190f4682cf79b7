"""Small words that every room uses. Offsets stay plain `int`: arithmetic on them is the trade."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import Final, NamedTuple

UUID_SIZE: Final = 16
_UUID_CHARACTERS: Final = 22


class TopicPartition(NamedTuple):
    """One partition of one topic; as text, the name of its directory: `orders-0`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def uuid_to_text(uuid: bytes) -> str:
    """Sixteen bytes as 22 characters of URL-safe base64."""
    return urlsafe_b64encode(uuid).rstrip(b"=").decode()


def uuid_from_text(text: str) -> bytes:
    """The inverse; ValueError for what is not a uuid in that form."""
    if len(text) == _UUID_CHARACTERS and text.isascii():
        try:
            uuid = urlsafe_b64decode(text + "==")
        except Base64Error:
            uuid = b""
        if len(uuid) == UUID_SIZE and uuid_to_text(uuid) == text:
            return uuid
    raise ValueError(f"{text!r} is not a uuid in base64")


def uuid_to_hyphens(uuid: bytes) -> str:
    """Sixteen bytes in groups of hexadecimal digits, as they stand behind the names of group members."""
    digits = uuid.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
