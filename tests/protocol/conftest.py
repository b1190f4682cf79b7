"""Makes the helpers of these tests importable: `message_values` here, `peer` one floor above."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent

for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
