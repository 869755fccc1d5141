"""How far a run is, on stderr: a line that is written over on a terminal, nothing elsewhere."""

from __future__ import annotations

import enum
import math
import sys
import time


class VerbosityLevel(enum.IntEnum):
    """How much is told while a function is measured."""

    SILENT = 0
    INFO = 3
    DEBUG = 4


def _seconds(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


class Line:
    """The line of a run. To be called as the plan's progress."""

    LEAST_S = 0.1  # between two changes of the line

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = 0.0
        self.written = False

    def __call__(self, phase: str, config: int, configs: int, run: int, runs: int, *rest: float) -> None:
        elapsed, remaining, margin = rest[-3:]
        if phase == "end":
            if self.written:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            return
        now = time.monotonic()
        if phase == "start" or now - self.last < self.LEAST_S:
            return
        self.last = now
        what = f"config {config + 1}/{configs}, " + (f"run {run + 1}/{runs}" if phase == "run" else phase)
        if phase == "wait":
            what += f" until the GPU is cool ({margin:.0f} degrees to go before it slows down)"
        left = "" if math.isnan(remaining) else f", {_seconds(remaining)} left"
        sys.stderr.write(f"\r\x1b[K{self.name}: {what}, {_seconds(elapsed)}{left}"[:200])
        sys.stderr.flush()
        self.written = True


def line(name: str, verbosity: int) -> Line | None:
    """The line of a run, or None where there is nobody to read it."""
    told = verbosity >= VerbosityLevel.INFO and sys.stderr is not None and sys.stderr.isatty()
    return Line(name) if told else None
