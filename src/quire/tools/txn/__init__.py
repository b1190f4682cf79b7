"""`quire txn`: see transactions, find those that nobody will end, end them.

transactions  what coordinators say of transactional ids
writers       what partitions say of their producers
list, describe, producers, hanging, abort: the verbs
"""
