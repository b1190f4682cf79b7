"""How far a partition's log is safe, and who is in sync: pure machines, told of appends, fetches and the time."""
