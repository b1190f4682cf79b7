"""Assignors: who reads what. Members and topics in, partitions for each member out; nothing is remembered.

subscriptions  what an assignor is told, and what it answers
uniform        everybody has the same number of partitions, as far as subscriptions allow, and few of them move
ranges         each topic is cut into ranges, one for each of its readers
table          the assignors by their names

Non-obvious
  - Members are taken in the order of their static ids, then of their member ids: never in the order of a dictionary.
"""
