"""What clients do to a node while a nemesis breaks things: one workload a file, each told by its docstring."""
