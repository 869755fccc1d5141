"""Plots of results by matplotlib: lines or bars, a series for each annotation, in panels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .exceptions import InvalidArgument

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#76B900", "#0070C5", "#5C1682", "#890C57", "#FAC200", "#008564", "#FF5733", "#C70039", "#900C3F", "#581845",
          "#1F618D", "#28B463", "#F39C12", "#D35400")
BAR_GROUP = 0.8  # of the place of a tick
AGGREGATES = {"avg": "Avg", "geomean": "Geomean"}


def check(plot_type: str, show_aggregate: str | None, error_bars: str | None) -> None:
    """What can be checked without results.

    Raises:
        ValueError: one of them is a word that is not known
    """
    for name, value, known in (("plot_type", plot_type, ("line", "bar")),
                               ("show_aggregate", show_aggregate, (None, *AGGREGATES)),
                               ("error_bars", error_bars, (None, "ci", "std"))):
        if value not in known:
            raise ValueError(f"Invalid {name} {value!r}: it is one of {', '.join(map(repr, known))}")


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def parameters(frame: pandas.DataFrame) -> list[str]:
    """The columns of a table that are parameters."""
    columns = list(frame.columns)
    return columns[columns.index("Metric") + 1:columns.index("AvgValue")]


def _choose_metric(frame: pandas.DataFrame, metric: str | None) -> str:
    metrics = list(dict.fromkeys(frame.Metric))
    if not metrics:
        raise ValueError("there is nothing to plot: the results have no rows")
    if metric is None:
        if len(metrics) > 1:
            raise ValueError(f"Cannot visualize multiple metrics ({len(metrics)} > 1) with the @nsight.analyze.plot "
                             f"decorator. Name one of them: {', '.join(metrics)}")
        return metrics[0]
    if metric not in metrics:
        raise ValueError(f"Metric '{metric}' not found in the profile results. There are: {', '.join(metrics)}")
    return metric


def _check_fields(fields: Iterable[str], known: list[str]) -> None:
    for field in fields:
        if field not in known:
            raise InvalidArgument(f"Field '{field}' is not present in the DataFrame; there are: {', '.join(known)}")


def _label(row: Any, fields: list[str]) -> str:
    return ", ".join(f"{field}={row[field]}" for field in fields)


class _Drawing:
    """Rows with what is drawn of them: the tick of each, its series, its panel."""

    def __init__(self, frame: pandas.DataFrame, rows: list[str], columns: list[str], x_keys: list[str],
                 variants: list[str], variant_annotations: list[str] | None) -> None:
        known = parameters(frame)
        _check_fields((*rows, *columns, *x_keys, *variants), known)
        taken = [*rows, *columns] + ([] if variant_annotations is None else variants)
        _check_fields((key for key in x_keys), [name for name in known if name not in taken])
        ticks = x_keys or [name for name in known if name not in (*rows, *columns, *variants)]
        self.frame = frame.copy()
        self.frame["Configuration"] = [_label(row, ticks) for _, row in frame.iterrows()]
        self.frame["row of panels"] = [_label(row, rows).replace(", ", "\n") for _, row in frame.iterrows()]
        self.frame["column of panels"] = [_label(row, columns).replace(", ", "\n") for _, row in frame.iterrows()]
        self.frame["series of a row"] = [self._series(row, variants, variant_annotations or []) for _, row in frame.iterrows()]
        plain = [s for s in dict.fromkeys(self.frame["series of a row"]) if s in set(frame.Annotation)]
        self.series = plain + [s for s in dict.fromkeys(self.frame["series of a row"]) if s not in plain]
        self.ticks = list(dict.fromkeys(self.frame["Configuration"]))
        self.rows = list(dict.fromkeys(self.frame["row of panels"]))
        self.columns = list(dict.fromkeys(self.frame["column of panels"]))

    @staticmethod
    def _series(row: Any, variants: list[str], annotations: list[str]) -> str:
        name = str(row.Annotation)
        return f"{name} {_label(row, variants)}" if variants and name in annotations else name

    def color(self, series: str) -> Any:
        """A colour for each series: those of the palette first, then of a colour map, so that none is left out."""
        place = self.series.index(series)
        if place < len(COLORS):
            return COLORS[place]
        import matplotlib

        return matplotlib.colormaps["turbo"]((place - len(COLORS)) * 0.37 % 1.0)


def _errors(rows: pandas.DataFrame, error_bars: str | None) -> Any:
    """Below and above each mean; None: there are none to draw."""
    if error_bars is None or "StdDev" not in rows or rows.StdDev.isna().all():
        return None
    if error_bars == "ci" and "CI95_Lower" in rows:
        both = [rows.AvgValue - rows.CI95_Lower, rows.CI95_Upper - rows.AvgValue]
    else:
        both = [rows.StdDev, rows.StdDev]
    return [side.fillna(0.0).clip(lower=0.0).to_numpy(dtype=float) for side in both]


def _draw_series(axes: Axes, drawing: _Drawing, rows: pandas.DataFrame, series: str, options: dict[str, Any]) -> None:
    places = [drawing.ticks.index(tick) for tick in rows["Configuration"]]
    values = rows.AvgValue.to_numpy(dtype=float)
    errors = _errors(rows, options["error_bars"])
    color = drawing.color(series)
    shift = 0.0
    if options["plot_type"] == "bar":
        width = BAR_GROUP / len(drawing.series)
        shift = (drawing.series.index(series) - (len(drawing.series) - 1) / 2) * width
        axes.bar([place + shift for place in places], values, width, label=series, color=color, yerr=errors, capsize=2)
    else:
        axes.errorbar(places, values, yerr=errors, marker="o", label=series, color=color, capsize=3)
    if options["annotate_points"]:
        above = errors[1] if errors is not None else [0.0] * len(values)
        for place, value, error in zip(places, values, above):
            if value == value:  # not missing
                axes.annotate(f"{value:.2f}", (place + shift, value + error), xytext=(0, 5),
                              textcoords="offset points", ha="center", fontsize=8)


def _draw_aggregate(axes: Axes, drawing: _Drawing, panel: pandas.DataFrame, kind: str) -> None:
    width = BAR_GROUP / len(drawing.series)
    place = len(drawing.ticks)
    axes.axvline(place - 0.5, linestyle="--", color="gray")
    for number, series in enumerate(drawing.series):
        values = panel[panel["series of a row"] == series].AvgValue.dropna()
        if values.empty:
            continue
        value = values.mean() if kind == "avg" else _geometric_mean(values)
        at = place + (number - (len(drawing.series) - 1) / 2) * width
        axes.bar(at, value, width, color=drawing.color(series))
        axes.annotate(f"{value:.2f}", (at, value), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8,
                      fontweight="bold")


def _geometric_mean(values: pandas.Series) -> float:
    import numpy

    return float(numpy.exp(numpy.log(values).mean())) if (values > 0).all() else float("nan")


def _scale(all_axes: list[Axes], frame: pandas.DataFrame, error_bars: str | None, log: bool) -> None:
    """The same in every panel: from 0, or the least where that is below it, to the highest or the end of its bar."""
    values = frame.AvgValue.dropna()
    if log or values.empty:
        return
    errors = _errors(frame, error_bars)
    end = (frame.AvgValue + (0.0 if errors is None else errors[1])).max()
    top = max(1.1 * values.max(), 1.03 * end, 1.0) if values.max() > 0 else 0.0
    bottom = 1.1 * values.min() if values.min() < 0 else 0.0
    for axes in all_axes:
        axes.set_ylim(bottom, max(top, bottom + 1.0))


def _y_label(frame: pandas.DataFrame, metric: str, ylabel: str | None) -> str:
    label = ylabel
    if label is None:
        label = metric
        baseline = frame.Normalized.iloc[0] if "Normalized" in frame else False
        if isinstance(baseline, str) and baseline not in ("", "False"):
            label += f" relative to {baseline}"
        else:
            unit = frame.Unit.iloc[0] if "Unit" in frame else None
            label += f" [{unit}]" if isinstance(unit, str) else ""
    return f"{label} (avg: {int(frame.NumRuns.max())} runs)"


def _title(frame: pandas.DataFrame, title: str) -> str:
    where = [str(frame[name].iloc[0]) for name in ("GPU", "Host")
             if name in frame and isinstance(frame[name].iloc[0], str)]
    return f"{title}\n{', '.join(where)}" if where else title


def figure(data: pandas.DataFrame | str | os.PathLike[str], metric: str | None = None, *,
           title: str = "Nsight Analyze Kernel Plot Results", ylabel: str | None = None,
           annotate_points: bool = False, show_aggregate: str | None = None, plot_type: str = "line",
           plot_width: float = 6, plot_height: float = 4, row_panels: str | Sequence[str] | None = None,
           col_panels: str | Sequence[str] | None = None, x_keys: str | Sequence[str] | None = None,
           print_data: bool = False, variant_fields: str | Sequence[str] | None = None,
           variant_annotations: str | Sequence[str] | None = None, error_bars: str | None = "ci",
           log_y: bool = False) -> Figure:
    """A figure of a table of results, or of a CSV file with one. The caller closes it. See analyze.plot()."""
    check(plot_type, show_aggregate, error_bars)
    import pandas
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    frame = data if isinstance(data, pandas.DataFrame) else pandas.read_csv(data)
    metric = _choose_metric(frame, metric)
    frame = frame[frame.Metric == metric]
    annotations = None if variant_annotations is None else _listed(variant_annotations)
    drawing = _Drawing(frame, _listed(row_panels), _listed(col_panels), _listed(x_keys), _listed(variant_fields),
                       annotations)
    if print_data:
        shown = drawing.frame.drop(columns=["row of panels", "column of panels", "series of a row"])
        print("Aggregated Data (Average value and Number of Runs):")
        print(shown.to_string(index=False, formatters={"AvgValue": "{:.4f}".format}))
    options = {"plot_type": plot_type, "annotate_points": annotate_points, "error_bars": error_bars}
    made = Figure(figsize=(max(plot_width * len(drawing.columns), 8), max(plot_height * len(drawing.rows), 6)),
                  layout="constrained")
    FigureCanvasAgg(made)
    grid = made.subplots(len(drawing.rows), len(drawing.columns), squeeze=False)
    ticks = drawing.ticks + ([AGGREGATES[show_aggregate]] if show_aggregate is not None else [])
    for r, row in enumerate(drawing.rows):
        for c, column in enumerate(drawing.columns):
            axes = grid[r][c]
            panel = drawing.frame[(drawing.frame["row of panels"] == row) & (drawing.frame["column of panels"] == column)]
            for series in drawing.series:
                of_series = panel[panel["series of a row"] == series]
                if not of_series.empty:
                    _draw_series(axes, drawing, of_series, series, options)
            if show_aggregate is not None:
                _draw_aggregate(axes, drawing, panel, show_aggregate)
            axes.set_title("\n".join(part for part in (row, column) if part), fontsize=11)
            axes.set_xticks(range(len(ticks)))
            axes.set_xticklabels(ticks if r == len(drawing.rows) - 1 else [], rotation=45, ha="right", fontsize=9)
            axes.set_xlim(-0.5, len(ticks) - 0.5)
            axes.grid(True, linestyle="--", alpha=0.7)
            axes.set_axisbelow(True)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(title="Annotation", loc="best")
            if c == 0:
                axes.set_ylabel(_y_label(frame, metric, ylabel))
            if log_y:
                axes.set_yscale("log")
    _scale([axes for line in grid for axes in line], frame, error_bars, log_y)
    made.suptitle(_title(frame, title), fontsize=14, fontweight="bold")
    return made


def visualize(data: pandas.DataFrame | str | os.PathLike[str], metric: str | None = None, *,
              filename: str | os.PathLike[str] = "plot.png",
              plot_callback: Callable[[Figure], Any] | None = None, **options: Any) -> None:
    """Draw figure() into a file, whose ending says its format.

    Args:
        plot_callback: called with the figure before it is saved
    """
    made = figure(data, metric, **options)
    if plot_callback is not None:
        plot_callback(made)
    made.savefig(filename, bbox_inches="tight")
