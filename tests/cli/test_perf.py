"""Events of the processor and the kernel, as far as this machine has them."""

import json
import shutil
import subprocess

import pytest

FAULTS = "cpu__page_faults.sum"
SWITCHES = "cpu__context_switches.sum"
CYCLES = "cpu__cycles.sum"


def facts(ks):
    """What the doctor says of perf: value and cure by fact."""
    listed = json.loads(ks("doctor", "--json").stdout)
    return {f["Fact"]: (f["Value"], f["Cure"]) for f in listed if f["Collector"] == "perf"}


@pytest.fixture
def kernel_events(ks):
    value, cure = facts(ks)["kernel_events"]
    if value != "yes":
        pytest.skip(f"{value}; {cure}")


def test_the_doctor_says_what_can_be_counted(ks):
    told = facts(ks)
    assert list(told)[0] == "available"
    works = {name: told[name][0] == "yes" for name in ("processor_events", "kernel_events")}
    assert told["available"][0] == {
        (True, True): "yes", (True, False): "events of the processor only",
        (False, True): "events of the kernel only", (False, False): "no",
    }[works["processor_events"], works["kernel_events"]]
    for name, good in works.items():
        value, cure = told[name]
        assert (cure is None) == good
        assert good or value.startswith("no: ")
    assert told["cap_perfmon"][0] in ("yes", "no")


def test_each_metric_is_listed_with_its_reason(ks):
    listed = {m["Metric"]: m for m in json.loads(ks("metrics", "--json", "cpu__*").stdout)
              if m["Collector"] == "perf"}
    assert {CYCLES, "cpu__ipc.ratio", "cpu__l1d_load_misses.sum", FAULTS, SWITCHES} <= set(listed)
    assert listed["cpu__ipc.ratio"]["Kind"] == "ratio"
    told = facts(ks)
    for metric, fact in ((CYCLES, "processor_events"), (FAULTS, "kernel_events")):
        value = told[fact][0]
        assert listed[metric]["Available"] is (value == "yes")
        if value != "yes":
            assert listed[metric]["Reason"].startswith(value.removeprefix("no: "))
            done = ks("run", "-m", metric, "--", "true", status=3)
            assert f"metric {metric} is not available here: " in done.stderr
            assert "`kernsight doctor` says what to do" in done.stderr


def test_page_faults_of_a_program_are_counted(ks, kernel_events):
    """A page that is touched for the first time is a fault."""
    script = ("import mmap\nm = mmap.mmap(-1, 2000 * mmap.PAGESIZE)\nm.madvise(mmap.MADV_NOHUGEPAGE)\n"
              "for i in range(%d): m[i * mmap.PAGESIZE] = 1")
    least = {}
    for pages in (0, 2000):
        rows = ks.rows("-m", FAULTS, "--runs", "3", "--", "python3", "-S", "-c", script % pages)
        assert rows[0]["Unit"] == "fault" and rows[0]["Source"] == "perf"
        least[pages] = float(rows[0]["MinValue"])
    assert 1900 <= least[2000] - least[0] <= 2100 # its own faults differ by some tens


def test_context_switches_of_sleeps_are_counted(ks, kernel_events):
    """Whoever sleeps leaves the processor; others may take it at other times, too."""
    script = "import time\nfor i in range(500): time.sleep(0.0001)"
    rows = ks.rows("-m", SWITCHES, "--runs", "3", "--", "python3", "-S", "-c", script)
    assert float(rows[0]["MinValue"]) >= 500


def test_what_is_wrong_with_a_name_is_told(ks):
    done = ks("run", "-m", "perf::NONSENSE", "-m", "cpu__page_fault.sum", "--", "true", status=2)
    assert "unknown metrics perf::NONSENSE, cpu__page_fault.sum" in done.stderr
    assert "/sys/bus/event_source" in done.stderr
    assert f"did you mean {FAULTS}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = ks("metrics", "perf::NONSENSE", status=2)
    assert "no event of that name" in done.stderr


def test_a_name_without_end_is_listed_when_it_is_asked_for(ks):
    listed = json.loads(ks("metrics", "--json", "perf::r1c2").stdout)
    assert [m["Metric"] for m in listed] == ["perf::r1c2"]
    assert listed[0]["Collector"] == "perf" and listed[0]["Target"] == "region, program"
    assert "perf::" not in ks("metrics").stdout


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv")
def test_without_rights_the_level_is_named(ks, kernel_events, tmp_path):
    """Where everybody may count, or nobody can give up rights, there is nothing to see."""
    import os
    from conftest import PROGRAM
    done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set", "-all",
                           "--inh-caps", "-all", PROGRAM, "run", "-m", FAULTS, "--", "true"],
                          capture_output=True, text=True, cwd="/", env=dict(os.environ))
    level = facts(ks).get("paranoid_level", ("0", None))[0]
    if done.returncode not in (0, 3) or int(level) <= 1:
        pytest.skip(f"level {level}: {done.stderr}")
    assert f"kernel.perf_event_paranoid is {level}" in done.stderr
