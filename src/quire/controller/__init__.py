"""Who decides: the active controller as a replayed machine, for any number of voters and brokers.

machine           the facade: command, replay, on_timer, check
decision          what goes into a command and what comes out of it
sessions          which brokers were heard of lately (soft state)
brokers           registration, heartbeats, fencing, controlled shutdown
topics            creation, deletion, more partitions
partition_change  what happens to one partition: elections, in-sync sets, ELR, epochs
partitions        AlterPartition, elections on demand, balancing, directories
reassignments     moving partitions to other brokers
configs quotas scram acls producer_ids features controllers    the rest, one file each
activation        the first records of a cluster, and of a reign
invariants        what must always be true of an image

Non-obvious
  - A command never changes the image: its records do, when they are replayed. Two commands decided
    on the same image without a replay between them contradict each other.
  - With ELR an in-sync set may become empty; without it its last member stays, alive or not.
  - A broker leaves the in-sync sets before it is fenced, and is unfenced before it joins them.
"""
