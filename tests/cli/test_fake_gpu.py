"""The program with fakes of NVIDIA's driver and of CUPTI (tests/fakes/nvidia/fake_nvidia.h)."""

import fcntl
import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

FAKES = Path(os.environ["KT_FAKES"])


@pytest.fixture
def facts(ks):
    """What `kernsight doctor` says of NVIDIA's, with the fakes and a script for them."""
    def call(script="", cupti="libcupti.so.13", **more):
        env = {"KERNSIGHT_CUDA_LIB": str(FAKES / "libcuda.so.1"),
               "KERNSIGHT_CUPTI_LIB": str(FAKES / cupti),
               "KERNSIGHT_NVML_LIB": str(FAKES / "libnvidia-ml.so.1"), "FAKE_NVIDIA": script, **more}
        told = [f for f in json.loads(ks("doctor", "--json", env=env).stdout) if f["Collector"] == "nvidia"]
        call.cures = {f["Fact"]: f["Cure"] for f in told}
        return {f["Fact"]: f["Value"] for f in told}
    return call


def test_devices_are_told(facts):
    told = facts("devices=2; driver_version=12090")
    assert told["driver"] == f"{FAKES}/libcuda.so.1, for CUDA up to 12.9"
    assert told["cupti"] == f"{FAKES}/libcupti.so.13, API version 130001"
    assert told["device_1"].startswith("Fake GPU, chip GH100, 132 SMs, "
                                       "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01")
    assert "device_2" not in told


def test_nvml_is_told(facts):
    assert facts("driver=570.1")["nvml"] == f"{FAKES}/libnvidia-ml.so.1, driver 570.1"
    assert facts.cures["nvml"] is None
    told = facts("mig=1", KERNSIGHT_NVML_LIB="/no/libnvidia-ml.so.1")
    assert told["nvml"].startswith("there is no NVML here: /no/libnvidia-ml.so.1")
    assert facts.cures["nvml"].startswith("unset KERNSIGHT_NVML_LIB")
    assert told["available"] == "yes" and "device_0_mig" not in told
    if "there is no NVML" in facts(KERNSIGHT_NVML_LIB="")["nvml"]:
        assert "utility" in facts.cures["nvml"]
    told = facts("nvmlInit_v2=18")
    assert "Driver/library version mismatch (18)" in told["nvml"]
    assert "restart the machine" in facts.cures["nvml"]
    assert "device_0" in told and told["available"] == "yes"


def test_a_divided_gpu_is_told(facts):
    assert not [fact for script in ["", "mig=3", "nvmlInit_v2=18"] for fact in facts(script) if "_mig" in fact]
    told = facts("devices=2; mig=1")
    assert told["device_1_mig"] == "on: the GPU is divided into parts"
    assert "undivided GPU" in facts.cures["device_1_mig"]
    assert "GPU-fafafafa" in told["device_1"]
    told = facts("mig=2")
    assert told["device_0_mig"] == "this is a part of a GPU"
    assert " MIG-fafafafa-fafa-fafa-fafa-fafafafafa00," in told["device_0"]


def test_a_shared_gpu_is_told(facts):
    assert "device_0_mps" not in facts()
    told = facts("devices=2; mps=1")
    assert told["device_1_mps"].endswith("by MPS")
    assert "nvidia-cuda-mps-control" in facts.cures["device_1_mps"]


def test_counters_that_a_device_does_not_have_are_told(facts):
    assert facts("supported.vgpu=1")["device_0"].endswith("no counters: this kind of virtual GPU has no counters")
    assert "kernel__time_duration.sum" in facts.cures["device_0"]


def test_who_has_the_counters_is_told(facts, tmp_path):
    turns = tmp_path / "kernsight"
    where = {"XDG_RUNTIME_DIR": str(tmp_path)}
    told = facts("devices=2", **where)
    assert told["turns"] == str(turns)
    assert "device_0_counters" not in told
    with open(turns / "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01", "w", encoding="utf-8") as held:
        held.write("4711 (trainer)")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        told = facts("devices=2", **where)
    assert told["device_1_counters"] == "taken by process 4711 (trainer)"
    assert "device_0_counters" not in told


def test_a_folder_that_others_may_use_holds_no_turns(facts, tmp_path):
    (tmp_path / "kernsight").mkdir(mode=0o777)
    (tmp_path / "kernsight").chmod(0o777)
    assert str(tmp_path) not in facts(XDG_RUNTIME_DIR=str(tmp_path))["turns"]
    assert not list((tmp_path / "kernsight").iterdir())


def test_a_driver_that_fails_is_told(facts):
    told = facts("cuInit=803")
    assert "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)" in told["driver"]
    assert "restart the machine" in facts.cures["driver"]
    assert told["available"].startswith("no: ") and facts.cures["available"] == facts.cures["driver"]
    assert "nvml" not in told
    assert "CUDA_ERROR_NO_DEVICE (100)" in facts("cuInit=100")["driver"]
    assert "CUDA_VISIBLE_DEVICES" in facts.cures["driver"]
    assert "there is no NVIDIA driver" in facts(KERNSIGHT_CUDA_LIB="/no/libcuda.so.1")["driver"]
    assert facts.cures["driver"].startswith("unset KERNSIGHT_CUDA_LIB")
    told = facts("cuptiDeviceGetChipName=999")["device_0"]
    assert "GH100" not in told and "no counters: cannot tell the chip" in told and "GPU-fafafafa" in told
    assert "newer" in facts.cures["device_0"]
    assert facts("cuDeviceGetUuid_v2=999")["device_0"].startswith("Fake GPU, 132 SMs, no counters: ")


def test_a_gpu_is_told_without_cupti(facts):
    told = facts("mig=1; mps=1", cupti="no/libcupti.so.13")
    assert told["available"] == "no: there is no CUPTI (the library that reads counters) that works"
    assert facts.cures["available"] == facts.cures["cupti"]
    assert facts.cures["cupti"].startswith("unset KERNSIGHT_CUPTI_LIB")
    assert told["device_0"] == "Fake GPU, 132 SMs, GPU-fafafafa-fafa-fafa-fafa-fafafafafa00"
    assert "device_0_mig" in told and "device_0_mps" in told


def test_whatever_is_in_the_way_has_a_cure(facts):
    for script in ["cuInit=999", "cuInit=100", "nvmlInit_v2=9", "supported.wsl=1", "mig=1", "mig=2", "mps=1",
                   "cuptiDeviceGetChipName=999", "cuptiProfilerInitialize=999", "driver_version=12000"]:
        told = facts(script)
        for fact, value in told.items():
            if value.startswith(("no", "on:", "there is no", "this is a part")) or "cannot" in value:
                assert facts.cures[fact], (script, fact, value)


def test_copies_of_cupti_that_cannot_be_used_are_told(facts):
    old = facts(cupti="old/libcupti.so.13")["cupti"]
    assert "old/libcupti.so.13: its version is 24, and 26 (CUPTI 12.8) or later is needed" in old
    lacking = facts(cupti="no_push/libcupti.so.13")["cupti"]
    assert "it has no function cuptiRangeProfilerPushRange, though its version is 130001" in lacking


def test_the_fake_chip_is_listed(ks):
    env = {"KERNSIGHT_CUPTI_LIB": str(FAKES / "libcupti.so.13")}
    listed = json.loads(ks("metrics", "--chip", "gh100", "--json", env=env).stdout)
    assert len(listed) == 32
    assert ks("metrics", "--chip", "ga100", "--json", env=env).stdout.count('"Metric"') == 31


@pytest.fixture
def fake(ks, tmp_path):
    """Runs the program with the fakes, and with a folder of turns of its own."""
    def call(*args, script="", **more):
        return ks(*args, **more, env={
            "KERNSIGHT_CUDA_LIB": str(FAKES / "libcuda.so.1"), "KERNSIGHT_CUPTI_LIB": str(FAKES / "libcupti.so.13"),
            "KERNSIGHT_NVML_LIB": str(FAKES / "libnvidia-ml.so.1"), "FAKE_NVIDIA": script,
            "XDG_RUNTIME_DIR": str(tmp_path)})
    return call


def test_clocks_are_locked_while_a_program_runs(fake, ks, tmp_path):
    record = tmp_path / "kernsight" / "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00.clock"
    fake("run", "--clock-control", "base", "--runs", "2", "--json", "r.json", "--", "cat", str(record))
    doc = json.loads((ks.folder / "r.json").read_text())
    assert {row["ClockControl"] for row in doc["rows"]} == {"base"}
    assert doc["plan"]["clock_control"] == "base"
    written = [row["AvgValue"] for row in doc["rows"] if row["Metric"] == "program__stdout_bytes.sum"]
    assert written[0] > 0 and record.read_text() == ""  # named while it ran, and no longer


def test_clocks_that_may_not_be_locked_are_an_error(fake, ks):
    done = fake("run", "--clock-control", "base", "--", "true", script="nvmlDeviceSetGpuLockedClocks=4",
                status=3)
    assert done.stdout == ""
    assert "administrators alone may" in done.stderr
    done = ks("run", "--clock-control", "base", "--", "true", status=3,
              env={"KERNSIGHT_CUDA_LIB": "/no/libcuda.so.1"})
    assert "cannot lock the clocks: " in done.stderr


def test_clocks_that_were_left_are_told_and_given_back(facts, fake, tmp_path):
    (tmp_path / "kernsight").mkdir(mode=0o700)
    record = tmp_path / "kernsight" / "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00.clock"
    record.write_text("4711 (trainer)")
    where = {"XDG_RUNTIME_DIR": str(tmp_path)}
    told = facts(**where)["device_0_clocks"]
    assert told == "left locked to the base clock by process 4711 (trainer), which was killed"
    assert "kernsight doctor --restore-clocks" in facts.cures["device_0_clocks"]
    with open(record, encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert facts(**where)["device_0_clocks"].startswith("locked to the base clock by process 4711")
        assert facts.cures["device_0_clocks"] is None
    refused = fake("doctor", "--restore-clocks", script="nvmlDeviceResetGpuLockedClocks=4", status=3)
    assert "Insufficient Permissions" in refused.stderr
    assert record.read_text() != ""
    assert "device_0_clocks" not in fake("doctor", "--restore-clocks").stdout
    assert record.read_text() == "" and "device_0_clocks" not in facts(**where)


def test_the_thermal_guard_is_in_the_data(fake, ks):
    fake("run", "--thermal", "auto", "--runs", "2", "--json", "r.json", "--", "true")
    doc = json.loads((ks.folder / "r.json").read_text())
    assert {row["ThermalWait"] for row in doc["rows"]} == {0.0}
    assert doc["plan"]["thermal"] == "auto" and doc["environment"]["thermal_waited_s"] == 0


def test_a_wait_for_a_cool_gpu_is_shown_and_can_be_interrupted():
    main, other = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "KERNSIGHT_CUDA_LIB": str(FAKES / "libcuda.so.1"),
           "KERNSIGHT_NVML_LIB": str(FAKES / "libnvidia-ml.so.1"), "FAKE_NVIDIA": "margin=5"}
    with subprocess.Popen([os.environ["KERNSIGHT"], "run", "--thermal", "manual", "--", "true"], env=env,
                          stdout=subprocess.PIPE, stderr=other, start_new_session=True) as process:
        os.close(other)
        shown = b""
        while b"degrees)" not in shown:
            shown += os.read(main, 65536)
        process.send_signal(signal.SIGINT)
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            shown += piece
            if not piece:
                break
        assert process.wait(30) == 130
    os.close(main)
    assert b"run 1/10, waiting for the GPU to cool down (5 of 20 degrees)" in shown
    assert b"cancelled while the GPU cooled down" in shown
