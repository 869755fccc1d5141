"""Run a script that imports nsight: ``python -m kernsight.nsight script.py [argument...]``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the script that the arguments name, as ``python script.py`` does."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    from . import as_nsight  # noqa: F401 (that is what it is for)

    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
