"""Compaction: keep the newest value of every key, drop aborted data, and never lose an offset.

The way of one cleaning: `schedule` picks the dirtiest log and describes the work (`job`); `rewrite`, anywhere, turns
segments into cleaned files; the log's owner commits each group; `schedule` moves the checkpoint.
"""
