"""What measures: the GPU's counters, in process, or the CPU's clocks."""

from __future__ import annotations

import enum
import os

__all__ = ["Tool", "activate", "deactivate", "default_metric", "get_active_tool"]


class Tool(str, enum.Enum):
    """NCU and CUPTI are one engine here: all of Nsight Compute's metrics, in process."""

    NCU = "ncu"
    CUPTI = "cupti"
    CPU = "cpu"


def _named(name: str) -> Tool:
    try:
        return Tool(name)
    except ValueError:
        names = ", ".join(tool.value for tool in Tool)
        raise ValueError(f"KERNSIGHT_TOOL is '{name}', which is none of {names}") from None


_active: Tool | None = Tool.NCU


def activate(tool: Tool) -> None:
    """Let decorated functions be measured by that tool. Nothing is loaded until one runs.

    Raises:
        ValueError: it is no member of Tool
    """
    global _active
    if not isinstance(tool, Tool):
        raise ValueError(f"{tool!r} is not a tool; there are Tool.NCU, Tool.CUPTI and Tool.CPU")
    _active = tool


def deactivate() -> None:
    """Let none be active: the next decorated function takes Tool.NCU again."""
    global _active
    _active = None


def get_active_tool() -> Tool | None:
    """The tool in use: KERNSIGHT_TOOL of the environment wins over activate()."""
    name = os.environ.get("KERNSIGHT_TOOL")
    return _named(name) if name else _active


def default_metric(tool: Tool | None) -> str:
    """What is measured where no metric is named."""
    return "cpu__time_duration.sum" if tool is Tool.CPU else "gpu__time_duration.sum"
