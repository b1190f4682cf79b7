"""The asking side of the protocol: connections, metadata, and what is asked over them."""
