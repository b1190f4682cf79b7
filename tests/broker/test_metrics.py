from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.broker.metrics import Metrics, Times


@given(st.lists(st.integers(0, 10**12), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_right_to_within_an_eighth(durations: list[int], fraction: float) -> None:
    times = Times()
    for duration in durations:
        times.add(duration)
    ordered = sorted(durations)
    index = min(len(ordered) - 1, max(0, -int(-fraction * len(ordered) // 1) - 1))
    found = times.quantile_ns(fraction)
    near = {ordered[max(0, index - 1)], ordered[index], ordered[min(len(ordered) - 1, index + 1)]}
    assert any(true <= found <= true + true // 8 for true in near)
    assert times.count == len(durations)
    assert times.sum_ns == sum(durations)
    assert times.largest_ns == max(durations)


def test_a_histogram_without_times_has_no_quantiles() -> None:
    assert Times().quantile_ns(0.99) == 0


def test_figures_begin_with_the_first_question_and_stay_the_same_object() -> None:
    metrics = Metrics()
    assert metrics.topic("a") is metrics.topic("a")
    assert metrics.request(0, 9) is metrics.request(0, 9)
    assert metrics.listener("PLAINTEXT") is metrics.listener("PLAINTEXT")
    metrics.topic("b").bytes_in += 5
    assert [(name, one.bytes_in) for name, one in metrics.topics()] == [("a", 0), ("b", 5)]
    metrics.forget_topic("a")
    assert [name for name, _ in metrics.topics()] == ["b"]
    assert [(key, version) for key, version, _ in metrics.requests()] == [(0, 9)]


def test_errors_are_counted_by_api_and_code() -> None:
    metrics = Metrics()
    metrics.failed(0, 3)
    metrics.failed(0, 3, 2)
    metrics.failed(1, 6)
    assert metrics.errors == {(0, 3): 3, (1, 6): 1}


def test_parts_of_a_histogram_make_one_whole() -> None:
    one, other, both = Times(), Times(), Times()
    for number in (1, 20, 300):
        one.add(number)
        both.add(number)
    for number in (4000, 20):
        other.add(number)
        both.add(number)
    whole = Times.together([one, other])
    assert (whole.count, whole.sum_ns, whole.largest_ns) == (5, 4341, 4000)
    assert [whole.quantile_ns(q) for q in (0.2, 0.5, 1)] == [
        both.quantile_ns(q) for q in (0.2, 0.5, 1)
    ]
