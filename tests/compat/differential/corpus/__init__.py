"""What is asked of both systems, in this order: every API and version, in good faith, oddly and with malice."""
