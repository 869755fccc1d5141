"""What GPUs' chips can count: kernsight metrics --chip, with NVIDIA's own library and without (C14, C15)."""

import ctypes
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import CUPTI, WHEEL, needs_cupti

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def chip(ks):
    """Calls `kernsight metrics --chip`, with the library of the Python package."""
    def call(*args, status=0, library=CUPTI):
        return ks("metrics", "--chip", *args, status=status,
                  env={"KERNSIGHT_CUPTI_LIB": str(library)})
    return call


@needs_cupti
def test_a_chip_is_listed_without_a_gpu(chip):
    text = chip("gh100", "dram__bytes_read").stdout
    assert re.search(r"^dram__bytes_read +byte +count\n    # of bytes read from DRAM\n"
                     r"    \.avg \.max \.min \.sum\n    \.sum\.", text, re.M)
    assert max(map(len, text.splitlines())) <= 80
    everything = json.loads(chip("GH100", "--json").stdout)
    assert len(everything) > 3000  # counters, ratios, throughputs
    kinds = {m["Metric"]: (m["Unit"], m["Kind"]) for m in everything}
    assert kinds["gpu__time_duration"] == ("ns", "duration")
    assert kinds["smsp__inst_executed"] == ("inst", "count")
    assert kinds["sm__throughput"] == ("%", "percent")
    assert kinds["l1tex__t_sector_hit_rate"] == (None, "ratio")


@needs_cupti
def test_a_pattern_with_a_point_gives_full_names(chip):
    listed = json.loads(chip("gh100", "dram__bytes_read.sum*", "--json").stdout)
    units = {m["Metric"]: (m["Unit"], m["Kind"]) for m in listed}
    assert units["dram__bytes_read.sum"] == ("byte", "count")
    assert units["dram__bytes_read.sum.per_second"] == ("byte/second", "rate")
    assert units["dram__bytes_read.sum.pct_of_peak_sustained_elapsed"] == ("%", "percent")
    assert units["dram__bytes_read.sum.per_cycle_elapsed"] == ("byte/cycle", "rate")
    assert units["dram__bytes_read.sum.peak_sustained"] == ("byte/cycle", "rate")
    assert units["dram__bytes_read.sum.peak_sustained_active"] == ("byte", "rate")
    assert all(m["Submetrics"] is None for m in listed)


@needs_cupti
def test_passes_are_counted(chip):
    assert chip("gh100", "--passes", "gpu__time_duration.sum").stdout.startswith("1 pass: ")
    text = chip("gh100", "--passes", "sm__throughput.avg.pct_of_peak_sustained_elapsed,"
                                     "dram__throughput.avg.pct_of_peak_sustained_elapsed").stdout
    passes = int(re.match(r"(\d+) passes: each run calls the body \1 times\n", text)[1])
    assert 4 <= passes <= 20  # 8 where a device tells which counters it has


@needs_cupti
@pytest.mark.parametrize("args, message", [
    (["gh100", "gpu__time_durations.sum"], "did you mean gpu__time_duration.sum"),
    (["gh100", "gpu__time_duraton"], "did you mean gpu__time_duration, "),
    (["tu102", "sm__inst_executed_pipe_tma"], "it exists on GH100, GB100, "),
    (["gh100", "achieved_occupancy"], "chip GH100 has no metric 'achieved_occupancy'"),
    (["gh100", "--passes", "sm__cycles_active"], "lacks its sub-metric"),
    (["gh100", "--passes", "dram__bytes*"], "as in dram__bytes*.sum"),
    (["gh100", "@memo"], "@memo is no set of metrics; there are @speed-of-light @memory @compute"),
    (["gh100", "--passes", "gpu__time_duration.sum,foo"], "no metric 'foo'"),
    (["gh200x"], "this CUPTI knows no chip 'gh200x'; it knows "),
])
def test_wrong_names_are_told(chip, args, message):
    done = chip(*args, status=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@needs_cupti
def test_each_metric_has_a_pass(chip, monkeypatch):  # C15
    """Of each counter, ratio and throughput the first full name, by the library itself: a process each is slow."""
    monkeypatch.setenv("KERNSIGHT_CUPTI_LIB", str(CUPTI))
    library = ctypes.CDLL(os.environ["KERNSIGHT_LIBRARY"])
    passes_of = library.ks_chip_passes
    passes_of.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t,
                          ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p]
    refused = []
    listed = json.loads(chip("gh100", "--json").stdout)
    for metric in listed:
        name = f"{metric['Metric']}.{metric['Submetrics'].split()[0]}"
        passes = ctypes.c_size_t(0)
        status = passes_of(b"gh100", (ctypes.c_char_p * 1)(name.encode()), 1, ctypes.byref(passes), None)
        if status != 0:
            refused.append(name)
        else:
            assert passes.value >= 1, name
    assert len(refused) <= 1  # CUPTI 13.0 to 13.1 list one throughput that they cannot measure
    for name in refused:
        assert f"chip GH100 cannot measure '{name}': CUPTI_ERROR_" in chip("gh100", "--passes", name, status=1).stderr


@needs_cupti
def test_the_cost_of_a_set_is_told(chip):
    text = chip("gh100", "--passes", "gpu__time_duration.sum,launch__grid_size").stdout
    assert text.splitlines()[1] == ("about 0.3 ms more for each config, and 0.06 ms for each kernel that a run "
                                    "launches,")
    assert "an estimate" in text
    passes = int(chip("gh100", "--passes", "@memory").stdout.split()[0])
    text = chip("gh100", "--passes", "@memory,dram__bytes*.sum,dram__bytes_read.sum").stdout
    assert text.startswith(f"{passes} passes: ")
    times = re.search(r"about ([\d.]+) ms more for each config, and ([\d.]+) ms for each kernel", text)
    assert float(times[1]) == pytest.approx(8.5 * passes, rel=0.05)  # two digits are shown
    assert float(times[2]) == pytest.approx(2.4 * passes, rel=0.05)
    assert "no counter is read" in chip("gh100", "--passes", "launch__grid_size").stdout


def sets_of(ks):
    return {s["Set"]: s["Metrics"].split() for s in json.loads(ks("metrics", "--sets", "--json").stdout)}


def test_sets_are_listed(ks):
    text = ks("metrics", "--sets").stdout
    assert re.search(r"^@memory: .*\n    gpu__time_duration.sum dram__bytes_read.sum", text, re.M)
    assert list(sets_of(ks)) == ["@speed-of-light", "@memory", "@compute", "@occupancy", "@roofline"]
    assert "--sets takes --json" in ks("metrics", "--sets", "cpu__*", status=2).stderr


@needs_cupti
def test_a_chip_has_what_is_in_the_sets(chip, ks):
    for name, metrics in sets_of(ks).items():
        listed = json.loads(chip("gh100", name, "--json").stdout)
        assert [m["Metric"] for m in listed] == metrics  # all of them: each name is spelt right
        assert len(set(metrics)) == len(metrics)
    older = [m["Metric"] for m in json.loads(chip("tu102", "@roofline", "--json").stdout)]
    assert "sm__ops_path_tensor_src_fp16.sum" not in older and "dram__bytes.sum" in older
    kinds = {m["Metric"]: m["Kind"] for m in json.loads(chip("gh100", "@occupancy", "--json").stdout)}
    assert kinds["launch__grid_size"] == "property"


def test_passes_need_a_chip(ks):
    assert "--passes takes --chip" in ks("metrics", "--passes", "a.sum", status=2).stderr


def stub(folder, functions, name="libcupti.so.13"):
    """A library with functions that all return 0, but for what they are given."""
    source = folder / "stub.c"
    source.write_text("".join(f"int {f}(void *a) {{ {body} return 0; }}\n"
                              for f, body in functions.items()))
    path = folder / name
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def function_names(header="abi.h"):
    """Those that our declarations ask for."""
    text = (ROOT / "src/collect/nvidia" / header).read_text()
    return re.findall(r'"(cupti\w+)"', text)


VERSION = "*(unsigned *)a = {};"


def test_libraries_that_cannot_be_used_are_named_with_their_reason(chip, ks):  # C14
    (ks.folder / "empty").mkdir()
    empty = ks.folder / "empty/libcupti.so.13"
    empty.write_bytes(b"")
    assert f"Tried: {empty}: " in chip("gh100", library=empty, status=3).stderr
    old = stub(ks.folder, {"cuptiGetVersion": VERSION.format(18)}, "old.so")
    message = chip("gh100", library=old, status=3).stderr
    assert f"{old}: its version is 18, and 26 (CUPTI 12.8) or later is needed" in message
    functions = {name: "" for name in function_names()}
    functions["cuptiGetVersion"] = VERSION.format(130001)
    del functions["cuptiProfilerHostGetSubMetrics"]
    lacking = stub(ks.folder, functions, "lacking.so")
    message = chip("gh100", library=lacking, status=3).stderr
    assert (f"{lacking}: it has no function cuptiProfilerHostGetSubMetrics, though its version is "
            "130001") in message
    newer = stub(ks.folder, {**functions, "cuptiProfilerHostGetSubMetrics": "",
                             "cuptiActivityEnable_v2": "",
                             "cuptiGetVersion": "__builtin_trap();"}, "newer.so")
    message = chip("gh100", library=newer, status=3).stderr
    if "no NVIDIA driver" in ks("doctor").stdout:
        assert "CUPTI 13.2 and later can be asked nothing where there is no driver" in message
    assert "cannot open" in chip("gh100", library="/nowhere/libcupti.so", status=3).stderr


def unusable_library(kind, folder):
    """(a) to (d) of C14."""
    path = folder / "libcupti.so.13"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "old":
        stub(folder, {"cuptiGetVersion": VERSION.format(18)})
    elif kind == "lacking":
        functions = {name: "" for name in function_names() if name != "cuptiSubscribe_v2"}
        stub(folder, {**functions, "cuptiGetVersion": VERSION.format(130001)})
    return path


@pytest.mark.parametrize("kind", ["empty", "old", "lacking", "none"])
def test_all_that_needs_no_gpu_works_with_a_library_that_cannot_be_used(ks, kind):  # C14
    env = {"KERNSIGHT_CUPTI_LIB": str(unusable_library(kind, ks.folder))}
    assert "Usage: kernsight" in ks("--help", env=env).stdout
    assert "cpu__time_duration" in ks("metrics", env=env).stdout
    assert "@memory" in ks("metrics", "--sets", env=env).stdout
    assert len(ks.rows("-m", "cpu__time_duration.sum", "-p", "n=1,2", "--runs", "2", "--", "true", env=env)) == 2
    told = [f["Value"] for f in json.loads(ks("doctor", "--json", env=env).stdout) if f["Fact"] == "cupti"]
    assert all(env["KERNSIGHT_CUPTI_LIB"] in value for value in told)
    if shutil.which("gnuplot"):
        ks("run", "-m", "cpu__time_duration.sum", "-p", "n=1,2", "--runs", "2", "--plot", "a.svg", "--", "true",
           env=env)
        assert (ks.folder / "a.svg").stat().st_size > 0


def test_an_unusable_library_is_passed_over(ks):  # C14
    stub(ks.folder, {"cuptiGetVersion": VERSION.format(18)})
    env = {"LD_LIBRARY_PATH": str(ks.folder), "KERNSIGHT_CUPTI_LIB": ""}
    if CUPTI.exists():
        home = ks.folder / "home/extras/CUPTI"
        home.mkdir(parents=True)
        (home / "lib64").symlink_to(WHEEL / "lib")
        env["CUDA_HOME"] = str(ks.folder / "home")
        facts = json.loads(ks("doctor", "--json", env=env).stdout)
        found = [f["Value"] for f in facts if f["Collector"] == "nvidia" and f["Fact"] == "cupti"]
        assert "API version" in found[0] and str(ks.folder / "libcupti") not in found[0]


@needs_cupti
def test_our_declarations_are_those_of_the_vendor(tmp_path):
    (tmp_path / "string").write_text("")
    flags = ["-std=c11", "-fsyntax-only", "-Wall", "-Werror", f"-I{ROOT}/src", f"-I{tmp_path}",
             f"-I{WHEEL}/include"]
    for checks in ["nvidia.c", "activity.c", "nvml.c"]:
        done = subprocess.run(["cc", *flags, ROOT / "tests/abi" / checks], capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
    came_later = {"cuptiActivityGetEnabledKinds"}
    names = [*function_names(), *(set(function_names("abi_activity.h")) - came_later)]
    exported = subprocess.run(["nm", "-D", "--defined-only", CUPTI], capture_output=True, text=True,
                              check=True).stdout
    assert all(re.search(rf" {name}(@|$)", exported, re.M) for name in names)
    assert len(names) >= 10


@needs_cupti
def test_the_drivers_functions_are_the_vendors():
    ours = re.findall(r'"(cu[A-Z]\w+)"', (ROOT / "src/collect/nvidia/abi.h").read_text())
    header = subprocess.run(["cc", "-E", WHEEL / "include/cuda.h"], capture_output=True, text=True, check=True).stdout
    # an optional one that was not the vendor's would be missing in every driver, and no one told
    assert [name for name in ours if not re.search(rf"\bCUresult\s+{name}\(", header)] == []
    assert len(ours) >= 10
