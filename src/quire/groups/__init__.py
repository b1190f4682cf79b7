"""Groups: who belongs together, who leads, and how far each group has read; one partition of `__consumer_offsets` each.

coordinator  commands in, records out, answers when they are safe; finds the group and what kind it is
kinds        what every kind of group answers: may it commit, be deleted, lose an offset
stored       hard state: the fold of the partition's records
keys         keys and values, as bytes
classic      soft state of a classic group: a roster with a state and a generation
roster       its members: votes, who leads, who waits
states       the states of a classic group, as a table
rebalance    how a classic group comes from one generation to the next
joining      JoinGroup
membership   SyncGroup, Heartbeat, LeaveGroup
offsets      commits, plain and transactional, fetches, deletions
expiry       which offsets have outlived their group
describing   DescribeGroups, ListGroups, DeleteGroups
foreign      groups of a kind that is not served here, kept as they are
step         what one command comes to, while it is being decided

Non-obvious
  - A classic group is written when it is made, when its leader hands in the assignment, when a static member is
    replaced, and when it has become empty. Between two records generations may pass that nobody else ever sees.
  - A marker may carry a newer epoch than the batch that it ends (KIP-890): what is pending is kept by producer id.
"""
