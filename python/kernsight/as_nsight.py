"""After ``import kernsight.as_nsight`` every ``import nsight`` of this process is kernsight.

For scripts that cannot be edited: ``python -m kernsight.nsight script.py ...``.
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("analyze", "annotation", "collection", "collection.core", "collection.cupti", "collection.ncu", "exceptions",
         "experimental", "info_collector", "tools_manager", "utils", "visualization")


def install() -> None:
    """Let ``nsight`` and its submodules be kernsight's.

    Raises:
        ImportError: nsight-python itself is loaded already; what has its functions would keep them
    """
    package = importlib.import_module("kernsight")
    loaded = sys.modules.get("nsight")
    if loaded is not None and loaded is not package:
        raise ImportError(f"nsight is loaded already, from {getattr(loaded, '__file__', None)}; import "
                          "kernsight.as_nsight before it")
    sys.modules["nsight"] = package
    for name in NAMES:
        sys.modules[f"nsight.{name}"] = importlib.import_module(f"kernsight.{name}")


install()
