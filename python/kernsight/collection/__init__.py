"""Where programs written for nsight-python look for its collectors."""

from . import core, cupti, ncu

__all__ = ["core", "cupti", "ncu"]
