"""The results' class, by the name that nsight-python has for it."""

from ..results import ProfileResults

__all__ = ["ProfileResults"]
