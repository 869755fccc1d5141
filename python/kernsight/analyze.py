"""Measuring a function over its configs: the decorator ``kernel``."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _core, annotation, configs as _configs, info_collector, progress, visualization
from .exceptions import Error, ProfilerException, Unavailable
from .progress import VerbosityLevel
from .results import ProfileResults
from .tools_manager import Tool, default_metric, get_active_tool

__all__ = ["ignore_failures", "kernel", "plot"]

_CLOCKS = {"none": 0, "base": 2}  # base: tried; without the right to it a warning says so
_CACHES = {"all": 0, "none": 1, "both": 2}
_REPLAYS = {"auto": 0, "user": 1, "range": 2, "kernel": 3}
_ORDERS = {"given": 0, "shuffled": 1, "interleaved": 2}
_THERMAL = {"off": 0, "auto": 1, "manual": 2}
_FOLDS: dict[str, Callable[[float, float], float]] = {"sum": lambda a, b: a + b, "max": max, "min": min}


def _choose(name: str, value: Any, known: Mapping[str, int]) -> int:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"Invalid {name} {value!r}: it is one of {', '.join(map(repr, known))}")
    return known[value]


class _Options:
    """What kernel() was given, checked as far as it can be without a function."""

    def __init__(self, *, configs: Any, runs: int | str, derive_metric: Callable[..., Any] | None,
                 normalize_against: str | None, verbosity: int, metrics: Sequence[str] | str | None,
                 ignore_kernel_list: Sequence[str] | None, clock_control: str, cache_control: str, replay_mode: str,
                 thermal_mode: str, thermal_wait: int | None, thermal_cont: int | None, thermal_timeout: float | None,
                 thermal_device: int | None, combine_kernel_metrics: str | Callable[[float, float], float] | None,
                 info_collectors: Sequence[Any] | None, warmup: int, on_error: str, order: str, seed: int, tool: Tool | None) -> None:
        self.configs = list(configs) if _is_read_once(configs) else configs
        self.runs = _check_runs(runs)
        self.derive_metric = derive_metric
        self.normalize_against = normalize_against
        self.verbosity = verbosity
        self.metrics = [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics)
        self.ignored = [ignore_kernel_list] if isinstance(ignore_kernel_list, str) else list(ignore_kernel_list or [])
        self.clock = _choose("clock_control", clock_control, _CLOCKS)
        self.cache = _choose("cache_control", cache_control, _CACHES)
        self.replay = _choose("replay_mode", replay_mode, _REPLAYS)
        self.thermal = (_choose("thermal_mode", thermal_mode, _THERMAL), 10 if thermal_wait is None else thermal_wait,
                        20 if thermal_cont is None else thermal_cont,
                        180.0 if thermal_timeout is None else thermal_timeout,
                        -1 if thermal_device is None else thermal_device)
        if self.thermal[0] != 0 and self.thermal[2] <= self.thermal[1]:
            raise ValueError(f"Invalid thermal control parameters: thermal_cont ({self.thermal[2]}) is not above "
                             f"thermal_wait ({self.thermal[1]}), so that waiting would be for nothing")
        if derive_metric is not None and not callable(derive_metric):
            raise TypeError(f"derive_metric is not callable: {derive_metric!r}")
        if not (combine_kernel_metrics is None or callable(combine_kernel_metrics) or
                combine_kernel_metrics in ("auto", *_FOLDS)):
            raise ValueError(f"Invalid combine_kernel_metrics {combine_kernel_metrics!r}: it is None, 'auto', "
                             f"{', '.join(map(repr, _FOLDS))}, or a function of two values")
        self.combine = combine_kernel_metrics
        self.collectors = info_collector.normalize(info_collectors)
        self.warmup = warmup
        self.tolerant = {"raise": 0, "skip": 1}[on_error] if on_error in ("raise", "skip") else _choose(
            "on_error", on_error, {"raise": 0, "skip": 1})
        self.order = (_choose("order", order, _ORDERS), seed)
        self.tool = tool


def _is_read_once(configs: Any) -> bool:
    return configs is not None and isinstance(configs, Iterator)


def _check_runs(runs: Any) -> Any:
    if runs == "auto" or (isinstance(runs, int) and not isinstance(runs, bool) and runs >= 1):
        return runs
    raise ValueError(f"Invalid runs {runs!r}: it is a number of at least 1, or 'auto'")


# ---- derived metrics ----


def _check_arity(function: Callable[..., Any], metrics: int, parameters: int) -> None:
    try:
        signature = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_POSITIONAL for p in signature):
        return
    count = sum(p.kind is not p.VAR_KEYWORD for p in signature)
    if count != metrics + parameters:
        raise ValueError(f"derive_metric expects {metrics + parameters} parameters ({metrics} metrics and "
                         f"{parameters} of the config), and takes {count}")


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _with_unit(name: str, value: Any) -> tuple[str, float, str | None]:
    unit = None
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(f"derive_metric gave {len(value)} values for '{name}'; it gives a value, or a value and "
                             "its unit")
        value, unit = value
    if value is None:
        return name, float("nan"), unit
    if isinstance(value, (str, list)):
        raise ValueError(f"derive_metric gave {value!r} for '{name}', which is no number")
    return name, float(value), unit


def _derivation(function: Callable[..., Any], metrics: list[str],
                configs: list[tuple[Any, ...]]) -> Callable[..., list[tuple[str, float, str | None]]]:
    name = _name_of(function)

    def derive(config: int, _: str, metric: Callable[[str], float]) -> list[tuple[str, float, str | None]]:
        given = function(*(metric(m) for m in metrics), *configs[config])
        if isinstance(given, Mapping):
            return [_with_unit(str(key), value) for key, value in given.items()]
        return [_with_unit(name, given)]

    return derive


# ---- a call ----


def _plan(options: _Options, function: Callable[..., Any], tool: Tool | None, configs: list[tuple[Any, ...]],
          shown: dict[str, _configs.Shown]) -> _core.Plan:
    plan = _core.Plan()
    for name in shown:
        plan.param(name)
    if shown:
        for cells in zip(*(s.cells for s in shown.values())):
            plan.config(cells)
    if options.runs == "auto":
        plan.auto_runs()
    else:
        plan.runs(options.runs)
    plan.warmup(options.warmup)
    plan.order(*options.order)
    metrics = options.metrics if options.metrics is not None else [default_metric(tool)]
    for metric in metrics:
        plan.metric(metric.strip())
    for pattern in options.ignored:
        plan.ignore_kernel(pattern)
    plan.set("replay", options.replay)
    plan.set("cache_control", options.cache)
    plan.set("tolerant", options.tolerant)
    if tool is not Tool.CPU:
        plan.set("clock_control", options.clock)
        plan.thermal(*options.thermal)
    if callable(options.combine):
        plan.combine_fn(options.combine)
    elif options.combine in _FOLDS:
        plan.combine_fn(_FOLDS[options.combine])
    else:
        plan.set("combine", 1 if options.combine is None else 0)
    info_collector.add(plan, options.collectors, configs, _stack_level())
    if options.normalize_against is not None:
        plan.normalize(options.normalize_against)
    if options.derive_metric is not None:
        _check_arity(options.derive_metric, len(metrics), len(shown))
        plan.derive(_name_of(options.derive_metric), _derivation(options.derive_metric, metrics, configs))
    return plan


class _Body:
    """What a plan calls: the function with the config's own objects."""

    def __init__(self, function: Callable[..., Any], configs: list[tuple[Any, ...]]) -> None:
        self.calls = _configs.bind(function, configs)
        self.returned = False

    def __call__(self, config: int, run: int, replay: int, warmup: bool) -> None:
        annotation.begin_call()
        try:
            if self.calls[config]() is not None:
                self.returned = True
        finally:
            annotation.end_call()


def _advise(error: Error, tool: Tool | None) -> Error:
    """Where there is no GPU and none was asked for, say what works."""
    if isinstance(error, Unavailable) and tool is not Tool.CPU:
        return Unavailable(f"{error}; without a GPU measure the CPU: KERNSIGHT_TOOL=cpu, or tool=Tool.CPU", error.status,
                           error.native, error.origin)
    return error


def _note(error: BaseException, results: ProfileResults | None) -> None:
    if results is not None and len(results) > 0 and hasattr(error, "add_note"):
        finished = results._core.counts()[1]
        error.add_note(f"{finished} finished configs are kept: the decorated function's partial_results")


def _stack_level() -> int:
    """How far up the first frame outside this package is, for warnings."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        frame = frame.f_back
        level += 1
    return level


def _measure(options: _Options, function: Callable[..., Any], wrapped: Any, configs: list[tuple[Any, ...]],
             ) -> ProfileResults:
    tool = options.tool if options.tool is not None else get_active_tool()
    names = [p.name for p in _configs.parameters(function)]
    shown = {name: _configs.Shown([config[i] for config in configs]) for i, name in enumerate(names)}
    plan = _plan(options, function, tool, configs, shown)
    line = progress.line(_name_of(function), options.verbosity)
    if line is not None:
        plan.progress(line)
    body = _Body(function, configs)
    core, raised, error = plan.run(body)
    results = ProfileResults(core, shown) if core is not None else None
    failure = raised if raised is not None and error is not None else error
    if failure is not None:
        wrapped.partial_results = results
        failure = _advise(failure, tool) if isinstance(failure, Error) else failure
        _note(failure, results)
        raise failure
    if body.returned:
        warnings.warn(f"Function '{_name_of(function)}' returns a value, which is ignored", RuntimeWarning,
                      stacklevel=_stack_level())
    wrapped.partial_results = None
    assert results is not None
    return results


def _decorate(function: Callable[..., Any], options: _Options) -> Callable[..., ProfileResults]:
    if not callable(function):
        raise TypeError(f"kernel() measures a function, not {function!r}; configs are an option: kernel(configs=...)")
    parameters = _configs.parameters(function)
    info_collector.check_parameters(options.collectors, [p.name for p in parameters])

    @functools.wraps(function)
    def wrapped(*args: Any, configs: Any = None, **kwargs: Any) -> ProfileResults:
        if kwargs:
            raise ProfilerException(f"Keyword arguments are not supported yet: {', '.join(kwargs)}; give them as "
                                    "configs, which may be dicts by name")
        if args:
            assert configs is None and options.configs is None, "give arguments or configs, not both"
        if configs is not None and options.configs is not None:
            raise ProfilerException("You have provided configs at decoration time and at runtime. Provide them at one "
                                    "place")
        chosen = configs if configs is not None else options.configs
        return _measure(options, function, wrapped, _configs.for_call(args, chosen, function))

    if not hasattr(function, "__name__"):
        wrapped.__name__ = _name_of(function)
    wrapped.partial_results = None  # type: ignore[attr-defined]
    if options.derive_metric is not None and options.metrics is not None:
        _check_arity(options.derive_metric, len(options.metrics), len(parameters))
    return wrapped


def kernel(_func: Callable[..., Any] | None = None, *, configs: Iterable[Any] | None = None, runs: int | str = 1,
           derive_metric: Callable[..., Any] | None = None, normalize_against: str | None = None,
           verbosity: int = VerbosityLevel.INFO, metrics: Sequence[str] | str | None = None,
           ignore_kernel_list: Sequence[str] | None = None, clock_control: str = "none", cache_control: str = "all",
           replay_mode: str = "auto", thermal_mode: str = "auto", thermal_wait: int | None = None,
           thermal_cont: int | None = None, thermal_timeout: float | None = None, thermal_device: int | None = None,
           combine_kernel_metrics: str | Callable[[float, float], float] | None = None,
           info_collectors: Sequence[Any] | None = None, warmup: int = 1,
           on_error: str = "raise", order: str = "given", seed: int = 0, tool: Tool | None = None) -> Any:
    """Measure the annotated regions of a function over its configs.

    ``@kernel``, ``@kernel()`` and ``@kernel(option=...)`` decorate a function; the decorated one is called with
    arguments (one config), with ``configs=``, or without any where the decorator has configs, and gives
    ProfileResults. What the function returns is ignored.

    Args:
        configs: what it is called with: tuples, dicts by name, or, for one parameter, values; an iterator is read once
        runs: measured calls of each config; "auto": until the time's 95 % interval is within 1 % of the mean
        derive_metric: function of a run's metrics and the config that gives a value, a value and its unit, or a dict
            of these by name
        normalize_against: name of an annotation whose mean the others are divided by
        verbosity: VerbosityLevel.SILENT tells nothing; else a line on stderr, if that is a terminal
        metrics: names, patterns and sets; None: ``gpu__time_duration.sum``, with Tool.CPU ``cpu__time_duration.sum``
        ignore_kernel_list: names or patterns of kernels to leave out
        clock_control: "base" locks the GPU's clocks if that is permitted, else a warning says so
        cache_control: "all" sweeps the caches before each kernel, "none" does not, "both" measures both
        replay_mode: how counters of several passes are read: "auto", "user", "range" or "kernel"
        thermal_mode: "auto", "manual" or "off": whether to wait while the GPU is too hot ...
        thermal_wait: ... with so many degrees Celsius or fewer before it slows down (10) ...
        thermal_cont: ... until there are so many (20) ...
        thermal_timeout: ... for so many seconds (180) ...
        thermal_device: ... of that CUDA device (the one that is used)
        combine_kernel_metrics: how several kernels of an annotation become one value: None refuses them, "auto" goes by
            what a metric is, "sum", "max", "min", or a function of two values
        info_collectors: callbacks whose values become columns: functions decorated by ``experimental.collect``,
            (name, callback, scope), or InfoCollector
        warmup: unmeasured calls of each config before its runs
        on_error: "raise" ends at the first failure; "skip" notes it in the row and goes on
        order: of the configs: "given", "shuffled" or "interleaved" (a run of each in turn)
        seed: of the shuffle; 0 draws one
        tool: what measures, in place of the active tool

    Raises:
        ValueError, TypeError: an option is wrong, when the function is decorated
        ProfilerException: the call's configs are wrong, before anything runs; or a subclass of Error
        Exception: whatever the function raises (``on_error="raise"``). Finished configs are kept in ``partial_results`` of the
            decorated function
    """
    options = _Options(configs=configs, runs=runs, derive_metric=derive_metric, normalize_against=normalize_against,
                       verbosity=verbosity, metrics=metrics, ignore_kernel_list=ignore_kernel_list,
                       clock_control=clock_control, cache_control=cache_control, replay_mode=replay_mode,
                       thermal_mode=thermal_mode, thermal_wait=thermal_wait, thermal_cont=thermal_cont,
                       thermal_timeout=thermal_timeout, thermal_device=thermal_device,
                       combine_kernel_metrics=combine_kernel_metrics, info_collectors=info_collectors, warmup=warmup, on_error=on_error, order=order,
                       seed=seed, tool=tool)
    if _func is not None:
        return _decorate(_func, options)
    return lambda function: _decorate(function, options)


def plot(filename: str | os.PathLike[str] = "plot.png", metric: str | None = None, *,
         title: str = "Nsight Analyze Kernel Plot Results", ylabel: str | None = None, annotate_points: bool = False,
         show_aggregate: str | None = None, plot_type: str = "line", plot_width: float = 6, plot_height: float = 4,
         row_panels: str | Sequence[str] | None = None, col_panels: str | Sequence[str] | None = None,
         x_keys: str | Sequence[str] | None = None, print_data: bool = False,
         variant_fields: str | Sequence[str] | None = None, variant_annotations: str | Sequence[str] | None = None,
         plot_callback: Callable[[Any], Any] | None = None, error_bars: str | None = "ci", log_y: bool = False,
         ) -> Callable[[Callable[..., ProfileResults]], Callable[..., ProfileResults]]:
    """Draw what a decorated function gives, above ``@kernel``; it gives the same results.

    Args:
        filename: of the picture, whose ending says its format
        metric: which one, where there are several
        title, ylabel: in place of the default and the metric's name
        annotate_points: the value beside each point
        show_aggregate: "avg" or "geomean": a bar for each series behind the configs of a panel
        plot_type: "line" or "bar"
        plot_width, plot_height: of a panel, in inches
        row_panels, col_panels: parameters whose values are panels, below and beside each other
        x_keys: parameters at the ticks; without it all that are neither panels nor variants
        print_data: print what is drawn
        variant_fields, variant_annotations: these annotations have a series for each value of these parameters
        plot_callback: called with the figure before it is saved
        error_bars: "ci" (95 % interval of the mean), "std" (standard deviation) or None
        log_y: the values' axis is logarithmic

    Raises:
        ValueError: plot_type, show_aggregate or error_bars is not known; at a call: a metric that is not there
        ProfilerException: at a call: a field is no parameter, or serves two purposes
    """
    visualization.check(plot_type, show_aggregate, error_bars)

    def decorate(function: Callable[..., ProfileResults]) -> Callable[..., ProfileResults]:
        @functools.wraps(function)
        def plotted(*args: Any, **kwargs: Any) -> ProfileResults:
            results = function(*args, **kwargs)
            results.plot(filename, metric, title=title, ylabel=ylabel, annotate_points=annotate_points,
                         show_aggregate=show_aggregate, plot_type=plot_type, plot_width=plot_width,
                         plot_height=plot_height, row_panels=row_panels, col_panels=col_panels, x_keys=x_keys,
                         print_data=print_data, variant_fields=variant_fields,
                         variant_annotations=variant_annotations, plot_callback=plot_callback, error_bars=error_bars,
                         log_y=log_y)
            return results

        return plotted

    return decorate


@contextlib.contextmanager
def ignore_failures() -> Iterator[None]:
    """Swallow exceptions of a block outside annotations, such as a warm-up that may fail."""
    try:
        yield
    except Exception:  # noqa: BLE001 (that is what it is for)
        pass
