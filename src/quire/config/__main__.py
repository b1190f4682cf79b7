"""`python -m quire.config` prints the reference page of all settings."""

from __future__ import annotations

import sys

from quire.config.reference import reference

if __name__ == "__main__":
    sys.stdout.write(reference())
