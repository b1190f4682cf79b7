"""The asking side of the protocol: connections, and which broker to ask what.

errors      what can go wrong between a question and its answer
connection  one connection: questions out, answers back in order, at versions both sides speak
cluster     a cluster as its clients see it: brokers, topics, leaders; every question to the right broker

Not here   producers and consumers that an application holds open (the clients step); anything of a broker's inside.
"""
