"""What is in a figure: ticks, series, panels, labels, limits."""

import pandas
import pytest

import kernsight as nsight
from kernsight import exceptions, visualization


def table(rows, **columns):
    """A table of results: (annotation, n, kind, mean)."""
    frame = pandas.DataFrame(rows, columns=["Annotation", "n", "kind", "AvgValue"])
    frame.insert(1, "Metric", "time")
    frame["StdDev"] = 1.0
    frame["NumRuns"] = 10
    frame["GPU"], frame["Host"], frame["Unit"] = "A GPU", "host", "ns"
    frame["CI95_Lower"], frame["CI95_Upper"] = frame.AvgValue - 2, frame.AvgValue + 3
    frame["Normalized"] = False
    return frame.assign(**columns)


ROWS = [("a", 1, "x", 10.0), ("a", 2, "x", 20.0), ("a", 1, "y", 30.0), ("a", 2, "y", 40.0),
        ("b", 1, "x", 1.0), ("b", 2, "x", 2.0), ("b", 1, "y", 3.0), ("b", 2, "y", 4.0)]


def labels(axes):
    return [tick.get_text() for tick in axes.get_xticklabels()]


def heights(axes):
    return [patch.get_height() for patch in axes.patches]


def points(axes):
    """{label: the y of its points}"""
    return {box.get_label(): list(box.lines[0].get_ydata()) for box in axes.containers}


def test_lines_have_a_series_for_each_annotation_and_a_tick_for_each_config():
    figure = visualization.figure(table(ROWS), title="Title", error_bars=None)
    (axes,) = figure.axes
    assert labels(axes) == ["n=1, kind=x", "n=2, kind=x", "n=1, kind=y", "n=2, kind=y"]
    assert points(axes) == {"a": [10, 20, 30, 40], "b": [1, 2, 3, 4]}
    assert axes.get_ylabel() == "time [ns] (avg: 10 runs)"
    assert axes.get_ylim() == (0, pytest.approx(44))
    assert axes.get_legend().get_title().get_text() == "Annotation"
    assert figure.get_suptitle() == "Title\nA GPU, host"
    assert list(figure.get_size_inches()) == [8, 6]


def test_error_bars_are_intervals_or_deviations_or_none():
    def ends(**options):
        (axes,) = visualization.figure(table(ROWS[:2]), **options).axes
        return [list(segment[:, 1]) for segment in axes.containers[0].lines[2][0].get_segments()] if options[
            "error_bars"] else axes.containers[0].lines[2]

    assert ends(error_bars="ci") == [[8, 13], [18, 23]]
    assert ends(error_bars="std") == [[9, 11], [19, 21]]
    assert ends(error_bars=None) == ()


def test_an_error_bar_is_in_the_picture_whole():
    wide = table(ROWS[:2], CI95_Upper=[11.0, 50.0])
    (axes,) = visualization.figure(wide).axes
    assert axes.get_ylim() == (0, pytest.approx(51.5))


def test_bars_stand_side_by_side():
    (axes,) = visualization.figure(table(ROWS), plot_type="bar").axes
    assert heights(axes) == [10, 20, 30, 40, 1, 2, 3, 4]
    assert [patch.get_width() for patch in axes.patches] == [pytest.approx(0.4)] * 8
    assert axes.patches[0].get_x() == pytest.approx(-0.4) and axes.patches[4].get_x() == pytest.approx(0.0)


def test_panels_are_values_of_parameters():
    figure = visualization.figure(table(ROWS), row_panels=("n",), col_panels=["kind"], plot_width=10, plot_height=5,
                                  error_bars=None)
    assert [axes.get_title() for axes in figure.axes] == ["n=1\nkind=x", "n=1\nkind=y", "n=2\nkind=x", "n=2\nkind=y"]
    assert [points(axes)["a"] for axes in figure.axes] == [[10], [30], [20], [40]]
    assert all(axes.get_ylim() == (0, pytest.approx(44)) for axes in figure.axes)
    assert list(figure.get_size_inches()) == [20, 10]
    assert [bool(axes.get_ylabel()) for axes in figure.axes] == [True, False, True, False]


def test_ticks_are_those_parameters_that_are_asked_for():
    (axes,) = visualization.figure(table(ROWS), x_keys=["n"]).axes
    assert labels(axes) == ["n=1", "n=2"]


def test_variants_are_series_of_some_annotations():
    (axes,) = visualization.figure(table(ROWS), variant_fields=["kind"], variant_annotations=["a"]).axes
    assert list(points(axes)) == ["b", "a kind=x", "a kind=y"]
    assert points(axes)["a kind=y"] == [30, 40] and labels(axes) == ["n=1", "n=2"]


def test_aggregates_are_of_the_panel():
    figure = visualization.figure(table(ROWS), col_panels=["kind"], show_aggregate="geomean", plot_type="bar")
    for axes, a in zip(figure.axes, (200 ** 0.5, 1200 ** 0.5)):
        assert labels(axes)[-1] == "Geomean" and heights(axes)[4] == pytest.approx(a)
    (axes,) = visualization.figure(table(ROWS[:2]), show_aggregate="avg").axes
    assert labels(axes)[-1] == "Avg" and heights(axes) == [15]


def test_any_number_of_series_any_sign_and_nothing_are_drawn():
    many = table([(f"s{i}", 1, "x", float(i)) for i in range(40)])
    (axes,) = visualization.figure(many).axes
    assert len(axes.containers) == 40
    colors = {str(box.lines[0].get_color()) for box in axes.containers}
    assert len(colors) == 40
    (axes,) = visualization.figure(table([("a", 1, "x", -5.0), ("a", 2, "x", 5.0)]), error_bars=None).axes
    assert axes.get_ylim() == (pytest.approx(-5.5), pytest.approx(5.5))
    (axes,) = visualization.figure(table([("a", 1, "x", float("nan"))])).axes
    assert labels(axes) == ["n=1, kind=x"]
    (axes,) = visualization.figure(table(ROWS), log_y=True).axes
    assert axes.get_yscale() == "log"


def test_a_normalized_metric_says_against_what():
    (axes,) = visualization.figure(table(ROWS, Normalized="b")).axes
    assert axes.get_ylabel() == "time relative to b (avg: 10 runs)"
    (axes,) = visualization.figure(table(ROWS), ylabel="mine").axes
    assert axes.get_ylabel() == "mine (avg: 10 runs)"


def test_wrong_words_are_refused_when_it_is_decorated():
    for option, value in (("plot_type", "pie"), ("show_aggregate", "sum"), ("error_bars", "x")):
        with pytest.raises(ValueError, match=f"Invalid {option} '{value}'"):
            nsight.analyze.plot(**{option: value})


def test_what_is_not_in_the_results_is_told():
    with pytest.raises(ValueError, match="Metric 'x' not found in the profile results.*time"):
        visualization.figure(table(ROWS), "x")
    two = pandas.concat([table(ROWS), table(ROWS).assign(Metric="other")])
    with pytest.raises(ValueError, match=r"Cannot visualize multiple metrics \(2 > 1\)"):
        visualization.figure(two)
    for options in ({"x_keys": ["m"]}, {"row_panels": ["m"]}, {"x_keys": ["n"], "row_panels": ["n"]}):
        with pytest.raises(exceptions.ProfilerException, match="is not present in the DataFrame"):
            visualization.figure(table(ROWS), **options)
    with pytest.raises(ValueError, match="no rows"):
        visualization.figure(table([]))


def test_the_decorator_draws_and_gives_the_same_results(tmp_path, capsys):
    seen = []

    @nsight.analyze.plot(tmp_path / "p.svg", plot_callback=seen.append, print_data=True)
    @nsight.analyze.kernel(configs=[(1, "a"), (2, "b")], runs=3)
    def work(n, kind):
        """What it does."""
        with nsight.annotate("work"):
            pass

    results = work()
    assert isinstance(results, nsight.ProfileResults) and work.__name__ == "work"
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<?xml") and len(seen) == 1
    assert "Aggregated Data" in capsys.readouterr().out
    results.to_csv(tmp_path / "r.csv")
    visualization.visualize(tmp_path / "r.csv", filename=tmp_path / "q.png")
    assert (tmp_path / "q.png").read_bytes()[:4] == b"\x89PNG"
