"""Information collectors: when they are called, with what, and the columns that come of it."""

import statistics

import pytest

import kernsight as nsight
from kernsight import experimental
from kernsight.exceptions import ProfilerException


def work(n, kind):
    with nsight.annotate("a"):
        pass
    with nsight.annotate("b"):
        pass


CONFIGS = [(1, "x"), (2, "y")]


def measured(collectors, runs=3):
    return nsight.analyze.kernel(work, configs=CONFIGS, runs=runs, info_collectors=collectors)().to_dataframe()


def test_each_scope_is_called_when_and_with_what_it_says():
    calls = []

    def note(name):
        return lambda *args: calls.append((name, *args)) or len(calls)

    measured([(name, note(name), name) for name in ("once", "config", "run", "annotation")], runs=2)
    assert calls[0] == ("once",) and calls.count(("once",)) == 1
    for config in CONFIGS:
        assert calls.count(("config", *config)) == 1
        assert calls.count(("run", *config)) == 2
        assert calls.count(("annotation", "a", *config)) == 2 and calls.count(("annotation", "b", *config)) == 2
    assert len(calls) == 1 + 2 + 4 + 8  # none in the warm-up


def test_numbers_get_statistics_and_texts_the_first():
    values = iter([1, 2, 6, 10, 10, 10])
    frame = measured([("one", lambda: 7, "once"), ("number", lambda n: next(values), "run"),
                      ("text", lambda n, kind: f"{n}{kind}", "config")])
    assert list(frame.one) == [7] * 4 and list(frame.text) == ["1x", "2y"] * 2
    first = frame[frame.n == 1].iloc[0]
    assert first.number_Avg == 3 and first.number_Min == 1 and first.number_Max == 6
    assert first.number_Std == pytest.approx(statistics.stdev([1, 2, 6]))
    columns = list(frame.columns)
    assert columns.index("Unit") < columns.index("one") < columns.index("number_Avg") < columns.index("text")


def test_a_callback_gets_as_many_values_as_it_takes():
    seen = []
    measured([("all", lambda *args: seen.append(args), "config"), ("one", lambda n: seen.append((n,)), "config"),
              ("none", lambda: seen.append(()), "config"),
              ("name", lambda name: seen.append((name,)), "annotation")], runs=1)
    assert seen.count((1, "x")) == 1 and seen.count((1,)) == 1 and seen.count(()) == 2 and seen.count(("a",)) == 2


def test_one_that_raises_is_missing_and_warned_of_once():
    def broken(n):
        raise KeyError("boom")

    with pytest.warns(RuntimeWarning, match=r"Info collector 'broken' \(run scope\) raised KeyError") as warned:
        frame = measured([("broken", broken, "run")])
    assert len(warned) == 1 and frame.broken.isna().all() and list(frame.NumRuns) == [3] * 4


def test_functions_are_marked_by_the_decorator():
    @experimental.collect(scope="config")
    def marked(n):
        return n * 10

    other = experimental.collect(lambda: 1, scope=nsight.CollectionScope.ONCE)
    other._nsight_collector_name = "other"
    frame = measured([marked, other, nsight.InfoCollector("third", lambda n: "t", nsight.CollectionScope.RUN)])
    assert list(frame.marked_Avg) == [10, 20, 10, 20] and list(frame.other) == [1] * 4 and list(frame.third) == ["t"] * 4
    assert marked(4) == 40


@pytest.mark.parametrize("element, error, text", [
    (lambda n: n, ValueError, "missing the decorator"),
    (("a", len), ValueError, "not 2 values"),
    ((1, len, "run"), TypeError, "is a text, not int"),
    (("a", 1, "run"), TypeError, "not callable"),
    (("a", len, "never"), ValueError, "Invalid collection scope 'never'"),
    (3, TypeError, "not int"),
])
def test_what_is_no_collector_is_told_when_it_is_given(element, error, text):
    with pytest.raises(error, match=text):
        nsight.analyze.kernel(info_collectors=[element])


def test_names_are_free_and_used_once():
    with pytest.raises(ProfilerException, match="Duplicate"):
        nsight.analyze.kernel(info_collectors=[("a", len, "run"), ("a", len, "config")])
    with pytest.raises(ProfilerException, match="reserved"):
        nsight.analyze.kernel(info_collectors=[("GPU", len, "run")])
    with pytest.raises(ProfilerException, match="parameter"):
        nsight.analyze.kernel(work, info_collectors=[("kind", len, "run")])
