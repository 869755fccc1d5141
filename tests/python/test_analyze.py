"""kernsight.analyze.kernel: forms, options, failures, results."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pandas
import pytest

import kernsight as nsight
from kernsight import exceptions

TIME = "cpu__time_duration.sum"


def count(calls):
    """A body that notes what it is called with."""

    def body(*args):
        calls.append(args)
        with nsight.annotate("work"):
            pass

    return body


# ---- forms ----


def test_the_three_forms_decorate():
    @nsight.analyze.kernel
    def plain(n):
        with nsight.annotate("work"):
            pass

    @nsight.analyze.kernel()
    def called(n):
        with nsight.annotate("work"):
            pass

    @nsight.analyze.kernel(runs=2)
    def with_options(n):
        """What it does."""
        with nsight.annotate("work"):
            pass

    for function, runs in ((plain, 1), (called, 1), (with_options, 2)):
        frame = function(3).to_dataframe()
        assert list(frame.n) == [3] and list(frame.NumRuns) == [runs]
    assert with_options.__name__ == "with_options" and with_options.__doc__ == "What it does."
    assert with_options.__wrapped__.__name__ == "with_options"


def test_methods_partials_and_callables_are_measured():
    class Work:
        def method(self, n):
            with nsight.annotate("work"):
                pass

        def __call__(self, n):
            with nsight.annotate("work"):
                pass

    work = Work()
    two = functools.partial(lambda a, b: work.method(b), 1)
    for function in (work.method, work, two):
        frame = nsight.analyze.kernel(function, runs=2)(5).to_dataframe()
        assert list(frame.iloc[:, 2]) == [5] and list(frame.NumRuns) == [2]


def test_a_function_is_called_for_each_config_run_and_warm_up():
    calls = []

    @nsight.analyze.kernel(configs=[(1, "a"), (2, "b")], runs=3)
    def function(n, kind):
        count(calls)(n, kind)

    function()
    assert calls == [(1, "a")] * 4 + [(2, "b")] * 4
    calls.clear()

    @nsight.analyze.kernel(configs=[(1, "a")], runs=3, warmup=0)
    def exactly(n, kind):
        count(calls)(n, kind)

    exactly()
    assert calls == [(1, "a")] * 3


def test_unknown_options_are_type_errors():
    with pytest.raises(TypeError):
        nsight.analyze.kernel(output="csv")


@pytest.mark.parametrize("option", ["clock_control", "cache_control", "replay_mode", "thermal_mode", "order", "on_error"])
def test_a_wrong_word_is_refused_before_anything_is_decorated(option):
    with pytest.raises(ValueError, match=f"Invalid {option} 'x'"):
        nsight.analyze.kernel(**{option: "x"})


def test_wrong_thermal_limits_and_runs_are_refused():
    with pytest.raises(ValueError, match="Invalid thermal control parameters"):
        nsight.analyze.kernel(thermal_wait=20, thermal_cont=20)
    with pytest.raises(ValueError, match="Invalid thermal control parameters"):
        nsight.analyze.kernel(thermal_wait=50)  # above the default of thermal_cont
    for runs in (0, -1, 1.5, True, "many"):
        with pytest.raises(ValueError, match="Invalid runs"):
            nsight.analyze.kernel(runs=runs)


# ---- failures ----


def test_an_exception_of_the_function_comes_back_and_finished_configs_are_kept():
    @nsight.analyze.kernel(configs=[1, 2, 3], runs=2)
    def function(n):
        with nsight.annotate("work"):
            if n == 3:
                raise KeyError("boom")

    with pytest.raises(KeyError, match="boom") as caught:
        function()
    assert list(function.partial_results.to_dataframe().n) == [1, 2]
    assert not function.partial_results.complete
    if sys.version_info >= (3, 11):
        assert "partial_results" in caught.value.__notes__[0]


def test_skipping_failures_keeps_their_reason_in_the_row():
    @nsight.analyze.kernel(configs=[1, 2], runs=2, on_error="skip")
    def function(n):
        with nsight.annotate("work"):
            if n == 2:
                raise KeyError("boom")

    frame = function().to_dataframe().set_index("n")
    assert frame.NumRuns[1] == 2 and frame.NumRuns[2] == 0
    assert pandas.isna(frame.AvgValue[2]) and "boom" in frame.Failure[2]


def test_a_misspelt_metric_is_refused_before_anything_is_called():
    calls = []

    @nsight.analyze.kernel(metrics=["cpu__time_durations.sum"])
    def function(n):
        count(calls)(n)

    with pytest.raises(exceptions.NotFound, match="cpu__time_duration.sum") as caught:
        function(1)
    assert calls == [] and isinstance(caught.value, nsight.Error) and caught.value.status == "KS_ENOTFOUND"
    assert isinstance(caught.value, exceptions.ProfilerException) and isinstance(caught.value, ValueError)


def test_without_an_annotation_it_says_so():
    with pytest.raises(exceptions.WrongState, match="no annotation"):
        nsight.analyze.kernel(lambda n: None)(1)


def test_without_a_gpu_the_default_says_what_works(monkeypatch):
    monkeypatch.delenv("KERNSIGHT_TOOL")
    monkeypatch.setenv("KERNSIGHT_CUDA_LIB", "/nonexistent/libcuda.so.1")
    calls = []
    with pytest.raises(exceptions.Unavailable, match="KERNSIGHT_TOOL=cpu"):
        nsight.analyze.kernel(lambda n: count(calls)(n))(1)
    assert calls == []


def test_what_it_returns_is_ignored_with_one_warning():
    @nsight.analyze.kernel(configs=[1, 2], runs=3)
    def function(n):
        with nsight.annotate("work"):
            return n

    with pytest.warns(RuntimeWarning, match="returns a value") as warned:
        function()
    assert len(warned) == 1 and warned[0].filename == __file__


INTERRUPTED = """
import kernsight, signal, threading, time, os
calls = []
@kernsight.analyze.kernel(configs=[1, 2], runs=1000000, warmup=0, verbosity=0)
def function(n):
    calls.append(n)
    with kernsight.annotate("work"):
        pass
    if len(calls) == 50:
        os.kill(os.getpid(), signal.SIGINT)
try:
    function()
except KeyboardInterrupt:
    print("interrupted", len(calls), function.partial_results is not None)
"""


def test_an_interrupt_ends_the_run_within_one_call():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("interrupted 50 ") or done.stdout.startswith("interrupted 51 ")
    assert done.stdout.endswith("True\n")


def test_a_second_call_at_the_same_time_is_refused():
    inside = threading.Event()
    go_on = threading.Event()

    @nsight.analyze.kernel(warmup=0)
    def slow(n):
        with nsight.annotate("work"):
            inside.set()
            assert go_on.wait(60)

    thread = threading.Thread(target=slow, args=(1,))
    thread.start()
    assert inside.wait(60)
    try:
        with pytest.raises(exceptions.Busy):
            nsight.analyze.kernel(lambda n: None)(1)
    finally:
        go_on.set()
        thread.join()


# ---- values ----


def test_derived_metrics_follow_from_metrics_and_config():
    @nsight.analyze.kernel(configs=[(4,), (8,)], runs=2, metrics=[TIME, TIME.replace("time_duration", "thread_time")],
                           derive_metric=lambda wall, thread, n: {"twice": (2 * wall, "ns"), "n": float(n)})
    def function(n):
        with nsight.annotate("work"):
            sum(range(1000 * n))

    frame = function().to_dataframe()
    for n in (4, 8):
        rows = frame[frame.n == n].set_index("Metric")
        assert rows.AvgValue["twice"] == pytest.approx(2 * rows.AvgValue[TIME], rel=1e-12)
        assert rows.AvgValue["n"] == n and rows.Unit["twice"] == "ns" and pandas.isna(rows.Unit["n"])


def test_a_derived_metric_of_wrong_arity_is_refused_when_it_is_decorated():
    with pytest.raises(ValueError, match="derive_metric expects 2 parameters"):
        @nsight.analyze.kernel(metrics=[TIME], derive_metric=lambda a: a)
        def function(n):
            pass
    with pytest.raises(TypeError, match="not callable"):
        nsight.analyze.kernel(derive_metric=3)


def test_normalized_rows_are_ratios_to_the_baseline():
    @nsight.analyze.kernel(configs=[1], runs=3, normalize_against="a")
    def function(n):
        with nsight.annotate("a"):
            time.sleep(0.002)
        with nsight.annotate("b"):
            time.sleep(0.02)

    frame = function().to_dataframe().set_index("Annotation")
    assert frame.AvgValue["a"] == pytest.approx(1.0) and 3 < frame.AvgValue["b"] < 30
    assert list(frame.Normalized) == ["a", "a"]


def test_the_frame_has_the_columns_and_types_of_nsight():
    @nsight.analyze.kernel(configs=[(1, "x"), (2, "y")], runs=2)
    def function(n, kind):
        with nsight.annotate("work"):
            pass

    results = function()
    frame = results.to_dataframe()
    assert list(frame.columns[:21]) == [
        "Annotation", "Metric", "n", "kind", "AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "Kernel", "GPU",
        "Host", "ComputeClock", "MemoryClock", "Unit", "CI95_Lower", "CI95_Upper", "RelativeStdDevPct",
        "StableMeasurement", "Normalized", "Geomean"]
    assert frame.n.dtype == "int64" and frame.AvgValue.dtype == "float64" and frame.NumRuns.dtype == "int64"
    assert str(frame.StableMeasurement.dtype) == "boolean" and list(frame.Normalized) == [False, False]
    assert results.to_dataframe() is frame and len(results) == 2 and results.complete
    one = nsight.analyze.kernel(lambda n: count([])(n))(1).to_dataframe()
    assert one.StableMeasurement.isna().all() and one.StdDev.isna().all()


def test_objects_of_any_kind_are_handed_on_and_stand_in_their_column():
    class Thing:
        pass

    things = [Thing(), Thing(), {"a": 1}, [1, 2], (3,), None, numpy.arange(3)]
    seen = []

    @nsight.analyze.kernel(configs=[(thing, i) for i, thing in enumerate(things)], warmup=0)
    def function(thing, number):
        seen.append(thing)
        with nsight.annotate("work"):
            pass

    frame = function().to_dataframe()
    assert list(frame.columns[2:4]) == ["thing", "number"]
    for i, thing in enumerate(things):
        assert seen[i] is thing and frame.thing[i] is thing and frame.number[i] == i


def test_statistics_are_those_of_the_samples():
    @nsight.analyze.kernel(configs=[1], runs=7)
    def function(n):
        with nsight.annotate("work"):
            sum(range(10000))

    results = function()
    values = results.samples().Value
    row = results.to_dataframe().iloc[0]
    assert len(values) == 7
    assert row.AvgValue == pytest.approx(values.mean(), rel=1e-12)
    assert row.StdDev == pytest.approx(values.std(ddof=1), rel=1e-9)
    assert row.MinValue == values.min() and row.MaxValue == values.max()
    assert row.Median == pytest.approx(values.median(), rel=1e-12)


def test_files_and_texts_say_the_same(tmp_path):
    @nsight.analyze.kernel(configs=[1, 2], runs=2)
    def function(n):
        with nsight.annotate("work"):
            pass

    results = function()
    results.to_csv(tmp_path / "r.csv")
    results.to_json(tmp_path / "r.json")
    read = pandas.read_csv(tmp_path / "r.csv")
    assert list(read.AvgValue) == list(results.to_dataframe().AvgValue)
    assert "work" in repr(results) and "<table" in results._repr_html_()
    assert '"schema"' in (tmp_path / "r.json").read_text()
    assert results.environment["plan.runs"] == 2
    with pytest.raises(exceptions.OutputFailed):
        results.to_csv(tmp_path / "none" / "r.csv")


FLAT = """
import gc, kernsight

@kernsight.analyze.kernel(configs=[(1, "a"), (2, object())], runs=2, verbosity=0, on_error="skip",
                          info_collectors=[("text", lambda: "x" * 50, "run")],
                          derive_metric=lambda time, n, kind: {"rate": (n / time, "1/ns")})
def function(n, kind):
    with kernsight.annotate("work", ignore_failures=True):
        if n == 2:
            raise KeyError("boom")

def resident_mib():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

for _ in range(300):
    function()
gc.collect()
before = resident_mib()
for _ in range(2000):
    function().environment
gc.collect()
print(resident_mib() - before)
"""


def test_calls_leave_memory_as_it_was():
    done = subprocess.run([sys.executable, "-c", FLAT], capture_output=True, text=True, timeout=250, check=True)
    assert float(done.stdout) < 1.0


def test_nothing_is_said_on_stdout_or_in_a_pipe():
    program = ("import kernsight\n@kernsight.analyze.kernel(configs=[1,2])\ndef f(n):\n"
               "    with kernsight.annotate('work'):\n        pass\nf()\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "" and done.stderr == ""


def test_importing_loads_no_numpy_and_no_pandas():
    program = "import sys, kernsight; print([m for m in ('numpy', 'pandas', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


# ---- an imaginary GPU ----

ON_A_GPU = """
import ctypes, os
import kernsight as nsight
fake = ctypes.CDLL(os.environ["KERNSIGHT_CUDA_LIB"], mode=ctypes.RTLD_GLOBAL)
fake.fake_use_device(0)
fake.fake_kernel.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_double]
fake.fake_launch.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p]
fake.fake_kernel(b"A", b"gpu__time_duration.sum", 1000.0)
fake.fake_kernel(b"B", b"gpu__time_duration.sum", 3000.0)
fake.fake_kernel(b"A", b"dram__bytes_read.sum", 100.0)
fake.fake_kernel(b"B", b"dram__bytes_read.sum", 300.0)
def launch(*names):
    for name in names:
        assert fake.fake_launch(name, 8, 256, None) == 0
"""


def test_counters_of_a_gpu_are_read_in_process(with_fake_gpu):
    out = with_fake_gpu(ON_A_GPU + """
@nsight.analyze.kernel(configs=[1, 2], runs=3, metrics=["gpu__time_duration.sum", "dram__bytes_read.sum"])
def function(n):
    with nsight.annotate("work"):
        launch(b"A" if n == 1 else b"B")
frame = function().to_dataframe()
print(frame[["n", "Metric", "AvgValue", "Unit", "Kernel", "NumRuns"]].to_csv(index=False))
print(nsight.get_active_tool())
""")
    assert "1,gpu__time_duration.sum,1000.0,ns,A,3" in out and "2,gpu__time_duration.sum,3000.0,ns,B,3" in out
    assert "1,dram__bytes_read.sum,100.0,byte,A,3" in out and "2,dram__bytes_read.sum,300.0,byte,B,3" in out
    assert "Tool.NCU" in out


def test_several_kernels_are_refused_unless_they_are_to_be_combined(with_fake_gpu):
    out = with_fake_gpu(ON_A_GPU + """
def body(n):
    with nsight.annotate("work"):
        launch(b"A", b"B")
try:
    nsight.analyze.kernel(body)(1)
except RuntimeError as error:
    print("refused:", error)
for combine in ("auto", "sum", "max", "min", lambda a, b: a * 10 + b):
    print(nsight.analyze.kernel(body, combine_kernel_metrics=combine)(1).to_dataframe().AvgValue[0])
""")
    refusal, *values = out.splitlines()
    assert refusal.startswith("refused:") and "A 1x, B 1x" in refusal
    assert [float(value) for value in values] == [4000.0, 4000.0, 3000.0, 1000.0, 13000.0]
