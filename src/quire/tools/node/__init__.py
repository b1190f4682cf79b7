"""`quire node`: one node of a cluster on this machine."""
