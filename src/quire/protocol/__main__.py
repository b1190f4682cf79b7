"""`python -m quire.protocol FetchRequest 12` prints the functions that write and read it."""

from __future__ import annotations

import sys

from quire.errors import UnsupportedVersionError
from quire.protocol.compiler import source_of
from quire.protocol.messages import MESSAGES


def main(arguments: list[str]) -> int:
    """Print the generated source of one version of one message; the exit status."""
    try:
        name, version = arguments
        text = source_of(MESSAGES[name], int(version))
    except (KeyError, ValueError, UnsupportedVersionError) as failure:
        sys.stderr.write(f"usage: python -m quire.protocol MESSAGE VERSION ({failure})\n")
        return 2
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
