"""Results of a decorated function's call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core, visualization
from .configs import Shown

if TYPE_CHECKING:
    import numpy
    import pandas

_DTYPES = {"f64": "float64", "i64": "int64", "bool": "uint8"}


def _numbers(table: _core.Table, column: int, kind: str) -> numpy.ndarray | pandas.api.extensions.ExtensionArray:
    """A column of numbers: whole ones stay whole where none is missing, truths are pandas' nullable ones where one
    is."""
    import numpy
    import pandas

    cells, bits = table.data(column)
    values = numpy.frombuffer(cells, _DTYPES[kind])
    missing = None
    if bits is not None:
        valid = numpy.unpackbits(numpy.frombuffer(bits, "uint8"), count=len(values), bitorder="little")
        missing = valid == 0
    if kind == "bool" and missing is not None:
        return pandas.arrays.BooleanArray(values.astype(bool), missing)
    if missing is None:
        return values.astype(bool) if kind == "bool" else values.copy()
    return numpy.where(missing, numpy.nan, values.astype("float64"))


def frame(table: _core.Table, shown: dict[str, Shown]) -> pandas.DataFrame:
    """A table as a DataFrame; cells of parameters are the objects that the function was called with."""
    import pandas

    columns: dict[str, Any] = {}
    for number, (name, kind, role) in enumerate(table.columns()):
        if role == "parameter" and name in shown:
            cells = [shown[name].back(cell) for cell in table.cells(number)]
            columns[name] = pandas.Series(cells, dtype=None if shown[name].plain else object)
        elif kind in _DTYPES:
            columns[name] = _numbers(table, number, kind)
        else:
            columns[name] = pandas.Series(table.cells(number))
    made = pandas.DataFrame(columns)
    if "StableMeasurement" in made:
        made["StableMeasurement"] = made["StableMeasurement"].astype("boolean")
    return made


class ProfileResults:
    """What a decorated function gave: a table with a row per annotation, metric and config.

    Attributes:
        complete: whether every config was measured
        environment: facts of the run: device, driver, host, times, the plan. Keys that may come several times, such as
            warnings, are lists
    """

    def __init__(self, results: _core.Results, shown: dict[str, Shown]) -> None:
        self._core = results
        self._shown = shown
        self._frame: pandas.DataFrame | None = None

    @property
    def complete(self) -> bool:
        return self._core.counts()[3]

    @property
    def environment(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for key, value in self._core.table().facts():
            if key.endswith("[]"):
                facts.setdefault(key[:-2], []).append(value)
            else:
                facts[key] = value
        return facts

    def to_dataframe(self) -> pandas.DataFrame:
        """The table, a row per annotation, metric and config; the same object each time."""
        if self._frame is None:
            self._frame = frame(self._core.table(), self._shown)
        return self._frame

    def samples(self) -> pandas.DataFrame:
        """Every sample: a row per annotation, config, run and metric, with the reason where the value is missing."""
        return frame(self._core.samples(), self._shown)

    def launches(self) -> pandas.DataFrame:
        """Every kernel launch of the first pass that saw launches, in their order."""
        return frame(self._core.launches(), {})

    def kernels(self) -> pandas.DataFrame:
        """Which kernels ran in each annotation, how often and how long."""
        return frame(self._core.kernels(), self._shown)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """The table as CSV, whole or not at all; results that are not complete go to ``path`` with ``.partial``
        behind it.

        Raises:
            OutputFailed: it cannot be written
        """
        self._core.write_csv(path)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Everything as JSON: plan, environment, rows and samples. As to_csv()."""
        self._core.write_json(path)

    def plot(self, filename: str | os.PathLike[str] = "plot.png", metric: str | None = None, **options: Any) -> None:
        """Draw a metric into a file. Options and errors are those of analyze.plot()."""
        visualization.visualize(self.to_dataframe(), metric, filename=filename, **options)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._core.table())

    def __repr__(self) -> str:
        return self._core.text(width=0).rstrip("\n")

    def _repr_html_(self) -> str:
        return self.to_dataframe().to_html()
