"""Makes the fuzz targets and the value makers importable."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent

for folder in (HERE, HERE.parent / "protocol"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
