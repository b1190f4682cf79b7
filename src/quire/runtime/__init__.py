"""The real world: files, threads, processes."""
