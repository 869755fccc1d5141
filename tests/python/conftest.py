"""The package as it is in the build tree; what a GPU would do is done by the fake libraries."""

import os
import subprocess
import sys

import pytest

os.environ.setdefault("KERNSIGHT_TOOL", "cpu")

FAKES = os.environ.get("KT_FAKES", "")


@pytest.fixture
def with_fake_gpu(tmp_path):
    """Run a program in a process of its own that finds an imaginary GPU. @return what it printed"""

    def run(program, **environment):
        env = {**os.environ, "KERNSIGHT_CUDA_LIB": f"{FAKES}/libcuda.so.1",
               "KERNSIGHT_CUPTI_LIB": f"{FAKES}/libcupti.so.13", "KERNSIGHT_NVML_LIB": f"{FAKES}/libnvidia-ml.so.1",
               "XDG_RUNTIME_DIR": str(tmp_path), **environment}
        env.pop("KERNSIGHT_TOOL", None)
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120,
                              check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
