"""kernsight: measure annotated regions of a program across parameter sweeps.

    import kernsight

    @kernsight.analyze.kernel(configs=[(1024,), (4096,)], runs=10)
    def multiply(n):
        a = numpy.ones((n, n))
        with kernsight.annotate("matmul"):
            a @ a

    print(multiply())
"""

from __future__ import annotations

from . import _core, analyze, collection, exceptions, experimental, utils, visualization
from .annotation import annotate
from .info_collector import CollectionScope, InfoCollector
from .progress import VerbosityLevel
from .results import ProfileResults
from .tools_manager import Tool, activate, deactivate, get_active_tool

__version__ = _core.version
__all__ = ["CollectionScope", "InfoCollector", "ProfileResults", "Tool", "VerbosityLevel", "activate", "analyze",
           "annotate", "collection", "deactivate", "exceptions", "experimental", "get_active_tool", "release", "utils"]

Error = exceptions.Error


class row_panel:  # noqa: N801 (nsight's name)
    """A marker that nsight-python has, and nothing uses."""


class col_panel:  # noqa: N801
    """A marker that nsight-python has, and nothing uses."""


_core.set_error_maker(exceptions.make)


def release() -> None:
    """Give back the GPU's counters, which stay with this process after a run so that the next one starts at once."""
    _core.release()
