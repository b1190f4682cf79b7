"""Quire: Apache Kafka's system in Python. The rooms and who may enter which: ARCHITECTURE.md."""
