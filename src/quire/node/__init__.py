"""A running node: rooms wired together, effects carried out, through the ports alone."""
