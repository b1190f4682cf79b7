"""Record batches, format v2: the bytes that producers send, logs keep, replicas copy and consumers read.

Kernel-sized logic exists twice, as idiomatic Python (`reference`) and as Cython (`kernel`), under one differential
test; `implementation` picks one. Everything else is written once, on top of it.

Non-obvious
  - The checksum starts at the attributes: base offset and leader epoch can be stamped without a new one.
  - Zero records, gaps between offsets and negative timestamp deltas are normal after compaction.
  - With a delete horizon the base timestamp is the horizon, not the time of the first record.
  - Snappy has two framings in the wild, with and without the xerial header; readers accept both.
  - A maximum of recorded offsets is not the last offset: `last_offset_delta` survives compaction.
"""
