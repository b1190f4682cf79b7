"""The command line: one noun per module or package, one verb per function or file."""
