"""Spreading blocking work over threads: a few for each group, all groups at the same time.

Made for loading logs: a group is a log directory, and num.recovery.threads.per.data.dir its share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class GroupThreads:
    """Calls a function for every item of every group; each group has its own threads."""

    __slots__ = ("_threads_per_group",)

    def __init__(self, threads_per_group: int) -> None:
        if threads_per_group < 1:
            raise ValueError(f"{threads_per_group} threads can do nothing")
        self._threads_per_group = threads_per_group

    def __call__(
        self, function: Callable[[Item], Result], groups: Sequence[Sequence[Item]], /
    ) -> Iterator[Result]:
        """The results as they come, in no order. What the function raises is raised here."""
        with ExitStack() as stack:
            futures: list[Future[Result]] = []
            for group in groups:
                if not group:
                    continue
                threads = min(self._threads_per_group, len(group))
                pool = stack.enter_context(ThreadPoolExecutor(threads))
                futures.extend(pool.submit(function, item) for item in group)
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()
