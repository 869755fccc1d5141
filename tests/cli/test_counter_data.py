"""Counter data recorded on a GPU, decoded by NVIDIA's own library to the values seen there."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from conftest import SANITIZED

lzma = pytest.importorskip("lzma", reason="this Python has no lzma")
DATA = Path(__file__).resolve().parents[1] / "data"
CUPTI = Path(sysconfig.get_path("purelib")) / "nvidia/cu13/lib/libcupti.so.13"
METRICS = ["gpu__time_duration.sum", "dram__bytes_read.sum",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed",
           "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
pytestmark = [
    pytest.mark.skipif(not CUPTI.exists(), reason="there is no nvidia-cuda-cupti"),
    pytest.mark.skipif(SANITIZED, reason="libnvperf_host.so cannot be loaded under sanitizers"),
    pytest.mark.skipif("KT_COUNTER_VALUES" not in os.environ, reason="counter_values is not built"),
]


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(lzma.open(DATA / "gh100-range-4x4.counterdata.xz").read())
    return path


def decode(image, metrics, chip="GH100"):
    """Values by range; the errors if there are none."""
    done = subprocess.run([os.environ["KT_COUNTER_VALUES"], chip, image, *metrics], text=True,
                          capture_output=True, timeout=120, check=False,
                          env={**os.environ, "KERNSIGHT_CUPTI_LIB": str(CUPTI)})
    values = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    return values if done.returncode == 0 else done.stderr


def test_recorded_counters_decode_to_what_the_gpu_counted(image):
    assert decode(image, METRICS) == [
        [37088, 134225664, pytest.approx(8.686018, abs=5e-7), 0],
        [6208, 8393216, pytest.approx(13.812978, abs=5e-7), 0],
        [34176, 134223360, pytest.approx(9.426990, abs=5e-7), 0],
        [250016, 8400128, pytest.approx(70.839109, abs=5e-7), 1 << 30],
    ]


def test_each_metric_decodes_alone_too(image):
    together = decode(image, METRICS)
    for i, metric in enumerate(METRICS):
        assert decode(image, [metric]) == [[values[i]] for values in together]


def test_an_image_that_is_none_is_refused(image):
    image.write_bytes(bytes(4096))
    assert "CUPTI_ERROR" in decode(image, METRICS)
