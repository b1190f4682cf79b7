"""Transactions: one coordinator for each partition of the topic that keeps them.

`machine` decides; `states` says which state may follow which, `transaction` what is kept of one transactional id and
how it changes, `log` how that is written, `commands` what can be asked, `listing` who is shown in a list.

Non-obvious
  - The epoch that is written with PrepareCommit or PrepareAbort is the one that the markers carry. Where the client
    bumps its epoch with every transaction (version 2) it is already the next one.
  - "The last epoch" (which makes a repeated InitProducerId harmless) is forgotten when the coordinator moves, as in
    Apache Kafka: it must never be derived from the log, where a fencing bump looks like any other.
  - The value's previous producer id is the id before the change that was written, thus mostly the same id.
"""
