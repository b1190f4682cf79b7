"""The broker: from a request to its answer. It decides nothing that a machine decides, and touches no socket.

call         one request on its way to its answer
dispatch     the one table: which handler answers which API, and which right it takes
handlers/    one file for each API
broker       the collaborators that handlers are given
purgatory    where answers wait
fetch_sessions    what a fetcher was told, so that only news is sent

Non-obvious
  - What waits (for bytes, for the high watermark, for members) waits in one place, the purgatory, under keys.
"""
