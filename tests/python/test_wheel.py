"""pip builds the package in one step, with the library inside."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_wheel_holds_all_that_is_needed(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir",
           str(tmp_path), "--config-settings=build-dir=" + str(tmp_path / "build"), str(ROOT)]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("kernsight-*.whl")
    assert "-cp310-abi3-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
        (tmp_path / "site/kernsight/bin/kernsight").chmod(0o755)  # as pip does
    assert {"kernsight/__init__.py", "kernsight/_core.abi3.so", "kernsight/libkernsight.so.0", "kernsight/py.typed",
            "kernsight/collection/core.py", "kernsight/bin/kernsight"} <= set(names)
    assert all(name.startswith(("kernsight/", "kernsight-")) for name in names)
    program = ("import kernsight\n@kernsight.analyze.kernel(runs=3)\ndef work(n):\n"
               "    with kernsight.annotate('work'):\n        pass\n"
               "print(list(work(1).to_dataframe().NumRuns), kernsight.__file__)\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60,
                          check=True)
    assert done.stdout.startswith("[3] ") and str(tmp_path) in done.stdout
    version = subprocess.run([sys.executable, "-m", "kernsight", "--version"], env=env, capture_output=True, text=True,
                             timeout=60, check=True)
    assert version.stdout.startswith("kernsight ")
