"""The program with fakes of NVIDIA's driver and of CUPTI (tests/fakes/nvidia/fake_nvidia.h)."""

import fcntl
import json
import os
from pathlib import Path

import pytest

FAKES = Path(os.environ["KT_FAKES"])


@pytest.fixture
def facts(ks):
    """What `kernsight doctor` says of NVIDIA's, with the fakes and a script for them."""
    def call(script="", cupti="libcupti.so.13", **more):
        env = {"KERNSIGHT_CUDA_LIB": str(FAKES / "libcuda.so.1"),
               "KERNSIGHT_CUPTI_LIB": str(FAKES / cupti), "FAKE_NVIDIA": script, **more}
        told = json.loads(ks("doctor", "--json", env=env).stdout)
        return {f["Fact"]: f["Value"] for f in told if f["Collector"] == "nvidia"}
    return call


def test_devices_are_told(facts):
    told = facts("devices=2; driver_version=12090")
    assert told["driver"] == f"{FAKES}/libcuda.so.1, for CUDA up to 12.9"
    assert told["cupti"] == f"{FAKES}/libcupti.so.13, API version 130001"
    assert told["device_1"].startswith("Fake GPU, chip GH100, 132 SMs, "
                                       "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01")
    assert "device_2" not in told


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
    assert "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)" in facts("cuInit=803")["driver"]
    assert "GH100" not in facts("cuptiDeviceGetChipName=999")["device_0"]


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
