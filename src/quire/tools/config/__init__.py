"""`quire config`: show, set and unset the settings of topics, brokers, groups and client metrics."""
