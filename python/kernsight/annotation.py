"""Annotations: names for the regions of a program that are measured."""

from __future__ import annotations

import functools
import threading
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import _core

F = TypeVar("F", bound=Callable[..., Any])

_call = 0  # number of the last call of a decorated function
_running = False  # ... and whether it still runs
_here = threading.local()


def begin_call() -> None:
    """A call of a decorated function begins: names may be used again, on every thread."""
    global _call, _running
    _call += 1
    _running = True


def end_call() -> None:
    """It ended: what is annotated from now on is not measured, and its names are free."""
    global _running
    _running = False


class _Names:
    """What this thread has annotated in the present call."""

    def __init__(self) -> None:
        self.call = 0
        self.used: set[str] = set()
        self.open: list[str] = []


def _names() -> _Names:
    names = getattr(_here, "names", None)
    if names is None:
        names = _here.names = _Names()
    if names.call != _call:  # what is still open was opened outside, where nothing is measured
        names.call = _call
        names.used.clear()
        names.open.clear()
    return names


class annotate:
    """A region that is measured: ``with annotate("name"):`` or ``@annotate("name")``.

    Outside a run of a decorated function it measures nothing and never fails. An object may be entered again and
    again, also on several threads at once.

    Args:
        name: any text without control characters
        ignore_failures: an exception inside spoils the value of this run alone, and goes no further.
            KeyboardInterrupt and its like do
        nested: the region may lie in another one, and be entered several times in a call (its visits are
            combined); without it both are errors

    Raises:
        ValueError: nested in another annotation, or entered twice in a call, without ``nested``
    """

    def __init__(self, name: str, ignore_failures: bool = False, *, nested: bool = False) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of an annotation is a text, not {type(name).__name__}")
        self.name = name
        self.ignore_failures = ignore_failures
        self.nested = nested
        self._tokens = threading.local()

    def __enter__(self) -> annotate:
        names = _names()
        if _running and not self.nested:
            self._check(names)
        token = _core.begin(self.name)
        stack = getattr(self._tokens, "stack", None)
        if stack is None:
            stack = self._tokens.stack = []
        stack.append(token)
        names.open.append(self.name)
        names.used.add(self.name)
        return self

    def _check(self, names: _Names) -> None:
        if names.open:
            raise ValueError(f"Nested annotations are not supported: '{self.name}' lies in '{names.open[-1]}' "
                             "(annotate(..., nested=True) allows it)")
        if self.name in names.used:
            raise ValueError(f"Annotation name '{self.name}' has already been used in this call "
                             "(annotate(..., nested=True) allows it)")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> bool:
        names = _names()
        if names.open and names.open[-1] == self.name:
            names.open.pop()
        token = self._tokens.stack.pop()
        if error is None:
            _core.end(token)
            return False
        swallowed = self.ignore_failures and isinstance(error, Exception)
        _core.end(token, f"{type(error).__name__}: {error}")
        return swallowed

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return annotated  # type: ignore[return-value]
