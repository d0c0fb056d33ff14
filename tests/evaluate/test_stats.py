import pytest

from memoryfs.evaluate.stats import bootstrap_mean, percentile, rate, spread, wilson


def test_wilson_agrees_with_published_values():
    # Newcombe 1998, table I, method 3: 81/263, 15/148, 0/20, 1/29
    for hits, n, low, high in ((81, 263, .2553, .3662), (15, 148, .0624, .1605), (0, 20, 0, .1611), (1, 29, .0061, .1718)):
        assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


def test_a_rate_over_nothing_has_no_value():
    empty = rate([])
    assert empty.value is None and empty.interval is None
    assert empty.to_dict() == {"value": None, "hits": 0, "n": 0, "low": None, "high": None}


def test_percentiles_are_values_that_occurred():
    values = [float(v) for v in range(1, 101)]
    assert percentile(values, 50) == 50 and percentile(values, 95) == 95 and percentile([7.0], 95) == 7


def test_the_bootstrap_is_repeatable_and_holds_the_mean():
    values = [1.0, 2.0, 3.0, 10.0]
    low, high = bootstrap_mean(values)
    assert (low, high) == bootstrap_mean(values)
    assert 1 <= low < 4 < high <= 10


def test_a_spread_of_nothing_and_of_something():
    assert spread([]).to_dict() == {"n": 0, "mean": None, "low": None, "high": None, "p50": None, "p95": None}
    assert spread([3.0, 1.0]).mean == 2
