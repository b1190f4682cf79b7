"""The four doors to the world: protocols only, no code."""
