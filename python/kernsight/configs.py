"""Configs: what a function is called with, and how that is shown in the table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from .exceptions import ProfilerException

NO_CONFIGS = "You have provided no configs. Provide configs at decoration time or at runtime."


def is_scalar(x: Any) -> bool:
    """Whether a value is one argument by itself: a text, or no sequence."""
    return isinstance(x, str) or not isinstance(x, Sequence)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function, in their order, without *args and **kwargs."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        name = getattr(function, "__name__", repr(function))
        raise ProfilerException(f"the parameters of '{name}' cannot be told; wrap it in a function that "
                                "names them") from None
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _arguments(item: Any, names: list[str]) -> tuple[Any, ...]:
    if isinstance(item, Mapping):
        unknown = [key for key in item if key not in names]
        if unknown:
            raise ProfilerException(f"a config names {unknown}, and the function's parameters are {names}")
        return tuple(item[name] for name in names if name in item)
    if len(names) == 1 and is_scalar(item) and not hasattr(item, "tolist"):
        return (item,)
    if hasattr(item, "tolist") and getattr(item, "ndim", 1) == 0 and len(names) == 1:
        return (item,)
    if is_scalar(item) and not hasattr(item, "__len__"):
        raise TypeError(f"object of type '{type(item).__name__}' has no len(): a config of the parameters "
                        f"{names} is a tuple or a dict")
    if len(names) == 1 and is_scalar(item):
        return (item,)
    return tuple(item)


def _pad(config: tuple[Any, ...], given: list[inspect.Parameter]) -> tuple[Any, ...]:
    return config + tuple(p.default for p in given[len(config):])


def normalize(configs: Any, function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """The configs as tuples, a value for each parameter.

    Args:
        configs: an iterable of tuples, dicts by name, or, for one parameter, of values; read once
        function: what they are for

    Raises:
        AssertionError: they are not iterable
        ProfilerException: there is none, or their number of values is wrong
    """
    given = parameters(function)
    names = [p.name for p in given]
    assert isinstance(configs, Iterable), f"configs must be an iterable, got {type(configs).__name__}"
    items = list(configs)
    if not items:
        raise ProfilerException("configs cannot be empty")
    dicts = [isinstance(item, Mapping) for item in items]
    tuples = [_arguments(item, names) for item in items]
    lengths = [len(config) for config in tuples]
    if len(set(lengths)) > 1 and not all(dicts):
        raise ProfilerException(f"All configs must have the same number of arguments. Found lengths: {lengths}")
    required = sum(p.default is p.empty for p in given)
    for length in lengths:
        if not required <= length <= len(given):
            expected = f"{len(given)}" if required == len(given) else f"between {required} and {len(given)}"
            raise ProfilerException(f"Configs have {length} arguments, but function expects {expected}")
    if all(dicts):
        return [tuple(item[p.name] if p.name in item else _default(p, item) for p in given) for item in items]
    return [_pad(config, given) for config in tuples]


def _default(parameter: inspect.Parameter, item: Mapping[str, Any]) -> Any:
    if parameter.default is parameter.empty:
        raise ProfilerException(f"the config {dict(item)!r} has no '{parameter.name}', which has no default")
    return parameter.default


def for_call(args: tuple[Any, ...], configs: Any, function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """The configs of a call: its own arguments, or those that were given, or the defaults."""
    given = parameters(function)
    if args:
        return normalize([args], function)
    if configs is not None:
        return normalize(configs, function)
    if any(p.default is p.empty for p in given):
        raise ProfilerException(NO_CONFIGS)
    return [_pad((), given)]


def bind(function: Callable[..., Any], configs: list[tuple[Any, ...]]) -> list[Callable[[], Any]]:
    """A call without arguments for each config; keyword-only parameters are given by their name."""
    given = parameters(function)
    named = [p.name for p in given if p.kind is p.KEYWORD_ONLY]
    first = len(given) - len(named)
    return [functools.partial(function, *config[:first], **dict(zip(named, config[first:]))) for config in configs]


class Shown:
    """A parameter's values as the library sees them: numbers and texts as they are where all are of one kind, else a
    text each, which leads back to the very object."""

    def __init__(self, values: list[Any]) -> None:
        kinds = {type(value) for value in values if value is not None}
        self.plain = len(kinds) <= 1 and kinds <= {bool, int, float, str} and all(map(_fits, values))
        self._by_text: dict[str, Any] = {}
        self._texts: dict[int, str] = {}
        self.cells = [value if self.plain else self._text(value) for value in values]

    def _text(self, value: Any) -> str:
        known = self._texts.get(id(value))
        if known is not None:
            return known
        text = shown(value)
        number = 2
        unique = text
        while unique in self._by_text and not _same(self._by_text[unique], value):
            unique = f"{text} ({number})"
            number += 1
        self._by_text.setdefault(unique, value)
        self._texts[id(value)] = unique
        return unique

    def back(self, cell: Any) -> Any:
        """The object of a cell of the table."""
        return cell if self.plain else self._by_text.get(cell)


def _fits(value: Any) -> bool:
    if isinstance(value, int):
        return -2**63 <= value < 2**63
    return not isinstance(value, str) or (value.isprintable() and "\0" not in value)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, (bool, int, float, str, tuple)):
        return False
    return bool(a == b)


def shown(value: Any) -> str:
    """A text for an object that is the same in every process: no address is in it."""
    if isinstance(value, str):
        text = value
    elif type(value).__repr__ is object.__repr__:
        text = getattr(value, "__name__", type(value).__qualname__)
    elif callable(value) and hasattr(value, "__qualname__"):
        text = value.__qualname__
    else:
        text = str(value)
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:197] + "..."
