"""Calls the kernsight program and reads what it says."""

import csv
import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

PROGRAM = os.environ["KERNSIGHT"]
SANITIZED = os.environ.get("KT_SANITIZED") == "ON"

# NVIDIA's own library, of the Python package: what it knows of chips it tells without a GPU.
WHEEL = Path(sysconfig.get_path("purelib")) / "nvidia/cu13"
CUPTI = WHEEL / "lib/libcupti.so.13"
needs_cupti = pytest.mark.skipif(
    not CUPTI.exists() or SANITIZED,
    reason="there is no nvidia-cuda-cupti, or a sanitizer, which refuses how it loads its parts")


class Kernsight:
    """Runs kernsight in a folder of its own, without a terminal."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *args, status=0, **options):
        """Run to the end; the exit status must be as expected. Output is decoded strictly."""
        env = {**os.environ, "COLUMNS": "", **options.pop("env", {})}
        env = {key: value for key, value in env.items() if value != ""}
        done = subprocess.run([PROGRAM, *args], cwd=self.folder, env=env, capture_output=True,
                              timeout=120, **options)
        done.stdout = done.stdout.decode()
        done.stderr = done.stderr.decode()
        assert done.returncode == status, done.stderr
        assert "Sanitizer" not in done.stderr
        return done

    def rows(self, *args, **options):
        """The rows of `kernsight run ARGS` as dicts, by Python's own CSV reader."""
        done = self("run", "--csv", "-", *args, **options)
        return list(csv.DictReader(done.stdout.splitlines(keepends=True), strict=True))

    def json(self, *args, **options):
        """The JSON of `kernsight run ARGS`, by a parser that knows no NaN."""
        done = self("run", "--json", "-", *args, **options)
        return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.fixture
def ks(tmp_path):
    return Kernsight(tmp_path)
