from __future__ import annotations

from quire.broker.exposition import Family, _summary
from quire.broker.metrics import Times


def test_a_family_is_one_block_with_its_help_and_type() -> None:
    family = Family("a_total", "counter", "Words.", [("", (), 3), ("", (("t", "x"),), 0.25)])
    assert family.text() == (
        '# HELP a_total Words.\n# TYPE a_total counter\na_total 3\na_total{t="x"} 0.25\n'
    )


def test_what_clients_chose_cannot_break_the_text() -> None:
    family = Family("a", "gauge", "Words.", [("", (("name", 'a"b\\c\nd'),), 1)])
    assert family.text().splitlines()[-1] == 'a{name="a\\"b\\\\c\\nd"} 1'


def test_a_summary_has_quantiles_in_milliseconds_and_the_sum_and_number() -> None:
    times = Times()
    for milliseconds in range(1, 101):
        times.add(milliseconds * 1_000_000)
    found = {(ending, labels): value for ending, labels, value in _summary((), times)}
    assert found["_count", ()] == 100
    assert found["_sum", ()] == 5050
    assert 50 <= found["", (("quantile", "0.5"),)] <= 50 * 9 / 8
    assert found["", (("quantile", "0.999"),)] == 100
