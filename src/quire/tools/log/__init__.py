"""Verbs on log directories, offline."""
