"""`quire doctor`: what is wrong with a cluster, or with a machine that is to run a node, and what to do about it.

findings   what a check comes to
cluster    a cluster, asked from outside as any client would
group      a consumer group: why it is stuck
machine    a node's settings, directories, ports and limits, on this machine
examine    the command
"""
