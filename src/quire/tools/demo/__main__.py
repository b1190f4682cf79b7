"""`python -m quire.tools.demo`; with a directory it is the victim of the second act."""

from __future__ import annotations

import sys

from quire.tools.demo import log, node
from quire.tools.demo.telling import say
from quire.tools.version import facts

if len(sys.argv) > 1:
    log.write_for_ever(sys.argv[1])
say(f"{facts()['quire']}, {facts()['kernels']}")
node.act()
log.act()
say("done")
