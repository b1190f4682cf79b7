from __future__ import annotations

import threading

import pytest

from quire.runtime.threads import GroupThreads


def test_every_item_of_every_group_is_done_once() -> None:
    groups = [[1, 2, 3], [], [4], [5, 6]]
    assert sorted(GroupThreads(2)(lambda number: number * 10, groups)) == [10, 20, 30, 40, 50, 60]
    assert list(GroupThreads(2)(str, [])) == []


def test_groups_run_at_the_same_time() -> None:
    barrier = threading.Barrier(2, timeout=10)
    assert len(list(GroupThreads(1)(lambda _: barrier.wait(), [["a"], ["b"]]))) == 2


def test_a_group_has_no_more_threads_than_its_share() -> None:
    running: set[int] = set()
    most = 0
    lock = threading.Lock()

    def work(item: int) -> int:
        nonlocal most
        with lock:
            running.add(item)
            most = max(most, len(running))
        with lock:
            running.discard(item)
        return item

    assert len(list(GroupThreads(2)(work, [list(range(50))]))) == 50
    assert most <= 2


def test_what_the_function_raises_is_raised() -> None:
    def fail(_: int) -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        list(GroupThreads(2)(fail, [[1, 2, 3]]))


def test_no_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        GroupThreads(0)
