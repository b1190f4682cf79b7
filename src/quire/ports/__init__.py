"""The doors to the world: protocols only, no code."""
