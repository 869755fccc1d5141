"""Exceptions: those that programs written for nsight-python catch, and one for each status of the library."""

from __future__ import annotations

import dataclasses
import enum

__all__ = ["BodyFailed", "Busy", "Cancelled", "CoolingTimeoutError", "Error", "InvalidArgument", "LimitReached",
           "MetricErrorType", "NCUErrorContext", "NCUNotAvailableError", "NoMemory", "NotFound", "NotPermitted", "OutputFailed", "ProfilerException",
           "ThermalControlError", "Unavailable", "VendorError", "WrongState"]


class ProfilerException(Exception):
    """A profile could not be made."""


class NCUNotAvailableError(Exception):
    """Nsight Compute is missing. Never raised here: no ncu is needed. For programs that catch it."""


class MetricErrorType(enum.Enum):
    """What is wrong with a metric. For programs that name it."""

    INVALID = "Invalid"
    UNSUPPORTED = "Unsupported"


@dataclasses.dataclass
class NCUErrorContext:
    """What ncu said. Never made here: no ncu is run. For programs that name it."""

    errors: list[str]
    log_file_path: str
    metrics: list[str]


class ThermalControlError(Exception):
    """The thermal guard failed."""


class Error(ProfilerException):
    """A failure of the library: one line that says what failed, why, and what to do.

    Attributes:
        status: name of the status, such as "KS_EINVAL"
        native: errno or a vendor's code; 0 if there is none
        origin: the part that failed, such as "plan" or "cupti"
    """

    def __init__(self, message: str, status: str = "KS_EINVAL", native: int = 0, origin: str = "python") -> None:
        super().__init__(message)
        self.status = status
        self.native = native
        self.origin = origin


class InvalidArgument(Error, ValueError):
    """An argument is wrong."""


class NoMemory(Error, MemoryError):
    """There is no memory."""


class Unavailable(Error, RuntimeError):
    """It cannot be had on this machine."""


class NotPermitted(Error, PermissionError):
    """This user may not do it."""


class VendorError(Error, RuntimeError):
    """A vendor's library, or the device, failed."""


class NotFound(Error, ValueError):
    """There is nothing of that name."""


class Busy(Error, RuntimeError):
    """Somebody else has it."""


class OutputFailed(Error, OSError):
    """Input or output failed."""


class Cancelled(Error, RuntimeError):
    """The run was cancelled."""


class BodyFailed(Error, RuntimeError):
    """The measured function failed."""


class LimitReached(Error, RuntimeError):
    """A limit was reached."""


class WrongState(Error, RuntimeError):
    """It cannot be done now."""


class CoolingTimeoutError(LimitReached, ThermalControlError):
    """The GPU did not get cool in time."""


_BY_STATUS = {
    "KS_EINVAL": InvalidArgument,
    "KS_ENOMEM": NoMemory,
    "KS_UNAVAILABLE": Unavailable,
    "KS_EPERM": NotPermitted,
    "KS_EVENDOR": VendorError,
    "KS_ENOTFOUND": NotFound,
    "KS_EBUSY": Busy,
    "KS_EIO": OutputFailed,
    "KS_ECANCELED": Cancelled,
    "KS_EBODY": BodyFailed,
    "KS_ELIMIT": LimitReached,
    "KS_ESTATE": WrongState,
}


def make(status: str, message: str, native: int, origin: str) -> Error:
    """The exception for a failure of the library."""
    kind = _BY_STATUS.get(status, Error)
    if status == "KS_ELIMIT" and origin == "thermal":
        kind = CoolingTimeoutError
    return kind(message, status, native, origin)
