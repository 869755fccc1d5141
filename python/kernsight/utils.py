"""What programs written for nsight-python take from its utilities."""

from .configs import is_scalar
from .progress import VerbosityLevel

__all__ = ["CUDA_CORE_AVAILABLE", "VerbosityLevel", "is_scalar"]

CUDA_CORE_AVAILABLE = True  # failures inside annotations can be ignored: no cuda-core is needed for that
