"""`python -m quire.tools` is `quire`."""

from __future__ import annotations

from quire.tools.main import main

main()
