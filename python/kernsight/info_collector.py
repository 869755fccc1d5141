"""Information collectors: callbacks whose values travel with the rows."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from . import configs as _configs
from .exceptions import ProfilerException

__all__ = ["CollectionScope", "InfoCollector", "collect"]

RESERVED = frozenset({
    "Annotation", "Value", "Metric", "Kernel", "GPU", "Host", "ComputeClock", "MemoryClock", "Unit", "AvgValue", "StdDev",
    "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper", "RelativeStdDevPct", "StableMeasurement", "Geomean",
    "Normalized", "NormalizationValue"})


class CollectionScope(enum.Enum):
    """When a collector is called; never in a warm-up call."""

    ONCE = "once"  # before the first config, without arguments
    CONFIG = "config"  # before the runs of each config, with its values
    RUN = "run"  # before each run, with the config's values
    ANNOTATION = "annotation"  # at each entry of an annotation, with its name and the config's values


_NUMBERS = {scope: number for number, scope in enumerate(CollectionScope)}


@dataclasses.dataclass
class InfoCollector:
    """A callback and when it is called; its name becomes a column, or several (``_Avg``, ``_Std``, ``_Min``, ``_Max``)
    where its values are numbers that may differ within a row."""

    name: str
    callback: Callable[..., Any]
    scope: CollectionScope

    def collect(self, *args: Any) -> Any:
        """What the callback gives."""
        return self.callback() if self.scope is CollectionScope.ONCE else self.callback(*args)


def _scope(value: Any) -> CollectionScope:
    try:
        return CollectionScope(value)
    except ValueError:
        names = ", ".join(repr(scope.value) for scope in CollectionScope)
        raise ValueError(f"Invalid collection scope {value!r}: it is one of {names}") from None


def collect(_func: Callable[..., Any] | None = None, *, scope: CollectionScope | str) -> Any:
    """Make a function a collector: ``@collect(scope="run")``, or ``collect(function, scope="run")``.

    Raises:
        ValueError: there is no such scope
        TypeError: it is not callable
    """
    known = _scope(scope)

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(f"a collector is callable, and {function!r} is not")
        function._nsight_collector_scope = known.value  # type: ignore[attr-defined]
        function._nsight_collector_name = function.__name__  # type: ignore[attr-defined]
        return function

    return mark if _func is None else mark(_func)


def _one(element: Any) -> InfoCollector:
    if isinstance(element, InfoCollector):
        return dataclasses.replace(element, scope=_scope(element.scope))
    if isinstance(element, tuple):
        if len(element) != 3:
            raise ValueError(f"an info collector is (name, callback, scope), not {len(element)} values")
        name, callback, scope = element
        if not isinstance(name, str):
            raise TypeError(f"the name of an info collector is a text, not {type(name).__name__}")
        if not callable(callback):
            raise TypeError(f"the callback of info collector '{name}' is not callable")
        return InfoCollector(name, callback, _scope(scope))
    if callable(element):
        if not hasattr(element, "_nsight_collector_scope"):
            raise ValueError(f"'{getattr(element, '__name__', element)}' is missing the decorator "
                             "@experimental.collect(scope=...)")
        return InfoCollector(element._nsight_collector_name, element, _scope(element._nsight_collector_scope))
    raise TypeError(f"an info collector is a decorated function, (name, callback, scope) or an InfoCollector, not "
                    f"{type(element).__name__}")


def normalize(elements: Sequence[Any] | None) -> list[InfoCollector]:
    """The collectors of ``info_collectors=``, in their order.

    Raises:
        ValueError, TypeError: an element is none
        ProfilerException: a name is used twice, or a column of the results
    """
    collectors = [_one(element) for element in elements or []]
    names = [collector.name for collector in collectors]
    for name in names:
        if names.count(name) > 1:
            raise ProfilerException(f"Duplicate info collector name '{name}'")
        if name in RESERVED:
            raise ProfilerException(f"info collector name '{name}' is reserved: it is a column of the results")
    return collectors


def check_parameters(collectors: list[InfoCollector], parameters: list[str]) -> None:
    """No collector is named like a parameter of the function."""
    for collector in collectors:
        if collector.name in parameters:
            raise ProfilerException(f"info collector name '{collector.name}' is a parameter of the function")


def _leading(callback: Callable[..., Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """As many of the values as a callback takes."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):
        return values
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return values
    return values[:sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)]


def add(plan: Any, collectors: list[InfoCollector], configs: list[tuple[Any, ...]], stack_level: int) -> None:
    """Let a plan call them. One that raises gives no value, and one RuntimeWarning for all of the call."""

    def called(collector: InfoCollector) -> Callable[[int, str | None], Any]:
        warned = False

        def give(config: int, annotation: str | None) -> Any:
            nonlocal warned
            values = configs[config] if config >= 0 else ()
            if collector.scope is CollectionScope.ANNOTATION:
                values = (annotation, *values)
            try:
                value = collector.collect(*_leading(collector.callback, values))
            except Exception as error:  # noqa: BLE001 (a collector spoils no measurement)
                if not warned:
                    warnings.warn(f"Info collector '{collector.name}' ({collector.scope.value} scope) raised "
                                  f"{type(error).__name__}: {error}", RuntimeWarning, stacklevel=stack_level)
                warned = True
                return None
            return _native(value)

        return give

    for collector in collectors:
        plan.info(collector.name, _NUMBERS[collector.scope], called(collector))


def _native(value: Any) -> Any:
    """A value that the library knows: numbers of numpy and torch as Python's, other objects by a text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return value.item()
    return _configs.shown(value)
