"""The other world: doors that replay from a seed, and that break on request.

Each module stands in for one port: `disk` (a page cache that forgets, tears and fills up), `clock`
and `entropy`.
"""
