"""`quire group`: see consumer groups, move their offsets, take them away.

members    who is in a group, asked of its coordinator
positions  where a group is in each partition, and how far behind in records and in seconds
targets    where its offsets are to go
list, describe, reset, export, delete: the verbs
"""
