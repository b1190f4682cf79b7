"""Clusters inside a Python program, for tests and notebooks: there in a fraction of a second, gone without a trace."""
