"""The log on disk: segments and their indexes, the small files beside them, the directories.

Reaches the world through ports.disk alone; is told the time, and is handed its random numbers.
"""
