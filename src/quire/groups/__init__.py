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
directory    the groups of one partition, and what kind each of them is
migration    a group goes from one protocol to the other, with its members
foreign      groups of a kind that is not served here, kept as they are
step         what one command comes to, while it is being decided

Consumer groups (KIP-848); their state is all in records, and commands change a draft of it:

consumer_commands     what a group is asked for, and what becomes of it besides
consumer_heartbeat    a member joins, is alive, says what it owns, learns what it shall own
consumer_leaving      a member goes, or is fenced
consumer_classic      JoinGroup and the like of members that speak the classic protocol still
consumer_describing   ConsumerGroupDescribe
consumer_targets      patterns, the group's epoch, who shall read what
consumer_reconciling  a member's next step from what it holds to what it shall hold
consumer_states       the states of a member, as a table
consumer_patterns     which topics a pattern means
consumer_group        one group in use
consumer_sessions     when members are taken for dead
consumer_draft        a group while a command changes it
consumer_stored       hard state: the fold of a group's records
consumer_records      those records as bytes, and consumer_values as values

Non-obvious
  - A classic group is written when it is made, when its leader hands in the assignment, when a static member is
    replaced, and when it has become empty. Between two records generations may pass that nobody else ever sees.
  - A consumer group's target keeps a distance from the last one (group.consumer.assignment.interval.ms), and no timer
    makes it: the next heartbeat of any member does. So a member that joins may be told nothing at first.
  - A member's epoch may be the target's though it holds less: it waits for what others have not given back yet.
  - In an epoch that is over a member still commits what it was given by then; one partition that it was not given
    refuses the whole commit.
  - A marker may carry a newer epoch than the batch that it ends (KIP-890): what is pending is kept by producer id.
"""
