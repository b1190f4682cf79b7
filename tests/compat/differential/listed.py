"""The differences that there are, each with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.compat.differential.comparison import Found


class Listed(NamedTuple):
    """A difference that may be, and is."""

    question: str
    """A pattern of `part | label | version`."""
    where: str
    """A pattern of the field."""
    reason: str

    def covers(self, found: Found) -> bool:
        """Whether this is the one."""
        return bool(
            re.fullmatch(self.question, found.question) and re.fullmatch(self.where, found.where)
        )


ANY = r".*"
BY_EITHER = r"( of the controller)?"

LISTED: tuple[Listed, ...] = (
    # --- what is not built yet
    Listed(
        r"versions \| .*",
        r"api_keys\[.*\]",
        "Groups of the newer kinds, and shares, are not built yet.",
    ),
    Listed(
        r"versions of the controller \| .*",
        r"api_keys\[.*\]",
        "The quorum of a node is its own: no other controller may fetch, vote or forward yet.",
    ),
    # --- what differs by its nature
    Listed(
        rf"cluster{BY_EITHER} \| quorum \| .*",
        r"topics\[__cluster_metadata\]\.partitions\[0\]\.(leader_epoch|high_watermark|current_voters.*)",
        "The metadata logs are not of the same length: Kafka's controller has resigned on the way, and writes"
        " records of its own (transactions, no-ops).",
    ),
    Listed(
        r"read \| dirs: .*",
        r"results\[0\]\.topics\[d-(gzipped|zipped)\].*partition_size",
        "The same records, packed anew by another build of the codec, are not of the same size.",
    ),
    # --- where Kafka fails
    Listed(
        r"produce \| produce bad: null records \| .*",
        ANY,
        "Kafka never answers; Quire says INVALID_RECORD.",
    ),
    Listed(
        r"produce \| produce bad: length too large \| .*",
        r".*error_code",
        "A length of 2^31-1 overflows in Kafka (UNKNOWN_SERVER_ERROR); Quire says INVALID_RECORD, as for every"
        " batch that is not whole.",
    ),
    Listed(
        rf"topics{BY_EITHER} \| grow: very much \| .*",
        r".*error_(code|message)",
        "Kafka's controller fails on more records than a batch may have (UNKNOWN_SERVER_ERROR); Quire says"
        " POLICY_VIOLATION, as both do when such a topic is created.",
    ),
    Listed(
        r"topics \| pages: bad names \| .*",
        r"topics\[.*\]\.(error_code|topic_authorized_operations)",
        "Kafka fails as a whole on names that are none (UNKNOWN_SERVER_ERROR); Quire says INVALID_TOPIC_EXCEPTION.",
    ),
    Listed(
        rf"settings{BY_EITHER} \| change: (unknown|negative) operation \| .*",
        r".*error_(code|message)",
        "Kafka's controller ends in an exception, and resigns; Quire says INVALID_REQUEST.",
    ),
    Listed(
        rf"security{BY_EITHER} \| credit: no password \| .*",
        r".*error_(code|message)",
        "Kafka's controller ends in an exception; Quire says UNACCEPTABLE_CREDENTIAL.",
    ),
    Listed(
        r"security of the controller \| credit(: nobody has any|s: .*) \| .*",
        ANY,
        "Kafka's controller cannot describe credentials: it fails, or never answers. Quire answers as a broker does.",
    ),
    Listed(
        r"damage of the controller \| damage: DescribeUserScramCredentials .*",
        ANY,
        "As above: Kafka never answers.",
    ),
    Listed(
        r"security of the controller \| tokens: .*",
        r"error_code",
        "Kafka's controller cannot describe tokens (UNKNOWN_SERVER_ERROR); Quire answers as a broker does.",
    ),
    # --- where Quire is stricter
    Listed(
        rf"security{BY_EITHER} \| limit: not a number \| .*",
        r".*error_(code|message)",
        "Kafka stores a limit that is no number, and then limits nothing; Quire refuses it.",
    ),
    Listed(
        r"settings of the controller \| (change: (null value|null and bad|append null|a name twice|"
        r"a resource twice|unknown kind|kind 0|null level)|replace: (null|twice|unknown kind)) \| .*",
        ANY,
        "Kafka leaves these checks to the broker that forwards a request; Quire's controller makes them itself, so"
        " what is refused does not depend on the way that it came.",
    ),
    Listed(
        r"settings of the controller \| replace: all brokers, seen \| .*",
        r"results\[\]\.configs\[(listeners|process\.roles)\]",
        "Both controllers store these for all brokers when they are asked directly; Quire shows what is stored.",
    ),
    Listed(
        rf"frames{BY_EITHER} \| frame: client that is no text \| bytes",
        ANY,
        "Text that is not UTF-8 is refused, with the connection; Kafka replaces what it cannot read.",
    ),
    Listed(
        rf"damage{BY_EITHER} \| damage: (Fetch|Metadata|OffsetForLeaderEpoch|DescribeQuorum) .* with another bit .*",
        ANY,
        "As above: the other bit has made a name no UTF-8.",
    ),
    Listed(
        r"read \| offsets: largest time of what was cut \| .*",
        ANY,
        "Kafka tells of a record that was deleted, as long as its segment is there; Quire does not.",
    ),
)
