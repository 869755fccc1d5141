"""The program ``kernsight``, which the package brings along: ``kernsight ...`` or ``python -m kernsight ...``."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Become the program."""
    program = Path(__file__).parent / "bin" / "kernsight"
    if not program.exists():
        sys.exit(f"kernsight: the package was built without the program ({program} is not there)")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
