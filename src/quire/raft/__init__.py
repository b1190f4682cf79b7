"""The quorum that keeps the metadata log: who votes, who leads, and how far the log is safe.

machine       the stepped machine: elections, epochs, the high watermark
voters        voter sets: from control records, from settings; what a majority is
quorum_state  the small file that remembers whom we voted for
snapshots     the bytes of a .checkpoint file

Non-obvious
  - A leader counts its own log only as far as it is flushed, and nothing of an older epoch is safe before
    something of its own epoch is.
  - The level of kraft.version lives here, in control records, and not among the metadata records.
"""
