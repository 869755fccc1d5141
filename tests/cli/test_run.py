"""kernsight run: parameters, metrics, programs, exit statuses."""

import csv
import os
import re
import subprocess

import pytest

from conftest import SANITIZED

WALL = "cpu__time_duration.sum"
BYTES = "program__stdout_bytes.sum"
REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def by(rows, **wanted):
    """The one row that has these cells."""
    found = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    assert len(found) == 1, (wanted, rows)
    return found[0]


def test_no_option_gives_ten_runs_of_all_that_is_known(ks):
    done = ks("run", "--", "sleep", "0.01")
    header, units, line = done.stdout.splitlines()[:3]
    assert header.split() == [WALL, "cpu__user_time.sum", "cpu__system_time.sum", BYTES]
    assert line.split()[0] == "sleep"
    mean = re.match(r"sleep +([\d.]+) ± \S+ +10", line)
    assert mean and float(mean[1]) >= 10 and units.split()[1] == "ms", line
    assert "10 calls of sleep: 1 config x (10 runs)" in done.stderr


def test_gzip_levels_are_compared_with_gzip_itself(ks):
    source = f"{REPO}/third_party/yyjson/yyjson.c"
    rows = ks.rows("-p", "level=1,9", "--runs", "3", "--", "gzip", "-c", "-{level}", source)
    for level in ("1", "9"):
        size = len(subprocess.run(["gzip", "-c", f"-{level}", source], capture_output=True,
                                  check=True).stdout)
        row = by(rows, level=level, Metric=BYTES)
        assert float(row["AvgValue"]) == size
        assert float(row["StdDev"]) == 0
    assert float(by(rows, level="1", Metric=WALL)["Median"]) < float(
        by(rows, level="9", Metric=WALL)["Median"])


def test_parameters_are_multiplied_or_zipped(ks):
    args = ["-m", BYTES, "--runs", "1", "-p", "a=1,2", "-p", "b=x,yy"]
    rows = ks.rows(*args, "--", "printf", "%s", "{a}{b}")
    assert [(r["a"], r["b"], float(r["AvgValue"])) for r in rows] == [
        ("1", "x", 2), ("1", "yy", 3), ("2", "x", 2), ("2", "yy", 3)]
    rows = ks.rows("--zip", *args, "--", "printf", "%s", "{a}{b}")
    assert [(r["a"], r["b"]) for r in rows] == [("1", "x"), ("2", "yy")]


def test_braces_that_are_no_names_stay(ks):
    rows = ks.rows("-m", BYTES, "--runs", "1", "-p", "n=5", "--", "printf", "%s",
                   "{{n}{print $1}{}{n}")
    assert float(rows[0]["AvgValue"]) == len("{n}{print $1}{}5")


@pytest.mark.parametrize("args, message", [
    (["-p", "n=1..x"], "a number is expected after '..'"),
    (["-p", "n=8..1"], "this range is empty"),
    (["-p", "n"], "name=values is expected"),
    (["-p", "n=1", "-p", "n=2"], "'n' is given twice"),
    (["-p", "Metric=1"], "reserved column"),
    (["-p", "n=1..1000", "-p", "m=1..1000"], "1000000 configs, more than the limit of 100000"),
    (["-p", "n=1..9", "--max-configs", "8"], "9 configs, more than the limit of 8"),
    (["-p", "n=1,2", "-p", "m=1", "--zip"], "'n' has 2, 'm' has 1"),
    (["--runs", "0"], "--runs takes a whole number from 1"),
    (["--runs", "ten"], "not 'ten'"),
    (["--runs", "-1"], "not '-1'"),
    (["--timeout", "0"], "--timeout takes seconds above 0"),
    (["--timeout", "1,5"], "not '1,5'"),
    (["--order", "random"], "--order is given, shuffled or interleaved"),
    (["--clock-control", "boost"], "--clock-control is none or base, not 'boost'"),
    (["--thermal", "on"], "--thermal is off, auto or manual, not 'on'"),
    (["--seed", "3"], "no use without --order shuffled"),
    (["--precision", "1"], "have no use without --runs auto"),
    (["--runs", "auto", "--precision", "100"], "--precision takes percent from above 0 to 99"),
    (["--runs", "auto", "--min-runs", "20", "--max-runs", "10"], "from 20 to 10 runs"),
    (["--env", "novalue"], "NAME=VALUE"),
    (["--cwd", "/nonexistent"], "there is no such folder"),
    (["--csv", "-", "--json", "-"], "only one of --csv, --json and --plot can go to stdout"),
    (["--csv", "r", "--json", "r"], "--csv r and --json r are the same file"),
    (["--csv", "a", "--csv", "b"], "--csv is given twice; it names one file"),
    (["--json", "a", "--json", "a"], "--json is given twice"),
    (["--output", "a", "--output", "b"], "--output is given twice"),
    (["-p", "n=1", "--env", "N={n}", "--output", "{n}.txt"], "all calls append to one file"),
    (["-m", "CPU__Max_RSS.max"], "unknown metric CPU__Max_RSS.max; did you mean cpu__max_rss.max"),
    (["-m", "cpu__time_durations.sum"], "did you mean cpu__time_duration.sum"),
])
def test_wrong_usage_is_one_line_and_runs_nothing(ks, args, message):
    done = ks("run", *args, "--", "touch", "ran", status=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not (ks.folder / "ran").exists()


@pytest.mark.parametrize("args", [
    ["--csv", "r", "--json", "./r"],
    ["--csv", "r", "--json", "../real/r"],
    ["--csv", "r", "--json", "folder/r"],  # a link to this folder
    ["--csv", "r", "--output", "later"],  # a link to r, which is not there yet
    ["--csv", "old", "--json", "hard"],
    ["--csv", "old.png", "--plot", "soft.png"],
    ["--plot", "old.png", "--plot", "soft.png"],
    ["--json", "old", "--output", "hard"],
])
def test_outputs_that_are_one_file_are_refused(ks, args):
    ks.folder = ks.folder / "real"
    ks.folder.mkdir()
    for name in ["old", "old.png"]:
        (ks.folder / name).write_text("precious")
    (ks.folder / "hard").hardlink_to(ks.folder / "old")
    (ks.folder / "soft.png").symlink_to("old.png")
    (ks.folder / "later").symlink_to("folder/r")
    (ks.folder / "folder").symlink_to(ks.folder)
    done = ks("run", *args, "--", "touch", "ran", status=2)
    assert f"{args[0]} {args[1]} and {args[2]} {args[3]} are the same file\n" in done.stderr
    assert not (ks.folder / "ran").exists() and (ks.folder / "old").read_text() == "precious"


def test_outputs_may_all_go_to_a_device(ks):
    ks("run", "--csv", "/dev/null", "--json", "/dev/null", "--output", "/dev/null", "--", "true")


def test_programs_that_cannot_run(ks, tmp_path):
    assert "there is no such program" in ks("run", "--", "no-such-thing", status=2).stderr
    assert "not an executable file" in ks("run", "--", "/etc/passwd", status=2).stderr
    assert f"cannot run './x' in '{tmp_path}': there is no such program" in ks(
        "run", "--cwd", tmp_path, "--", "./x", status=2).stderr
    assert "there is no program to run" in ks("run", status=2).stderr
    done = ks("run", "--", "echo", "{m}", status=2)
    assert "there is no parameter m: add -p m=VALUES" in done.stderr


def test_a_gpu_metric_is_not_for_unmodified_programs(ks):
    done = ks("run", "-m", "sm__cycles_active.avg", "--", "touch", "ran", status=3)
    assert "cannot be measured of an unmodified program" in done.stderr
    assert not (ks.folder / "ran").exists()


def test_a_failure_ends_the_sweep_and_keeps_what_is_finished(ks):
    done = ks("run", "-p", "n=1..4", "--runs", "2", "--csv", "r.csv", "--", "sh", "-c",
              "[ {n} != 3 ] || { echo the disk is gone >&2; exit 7; }", status=1)
    assert ("kernsight: config 3 of 4 (n=3): run 1: sh failed with exit status 7; its last words: "
            "the disk is gone\n") in done.stderr
    assert "partial: 2 of 4 configs are finished" in done.stdout
    assert not (ks.folder / "r.csv").exists()
    assert len((ks.folder / "r.csv.partial").read_text().splitlines()) == 1 + 2 * 4
    assert "what was measured is in r.csv.partial\n" in done.stderr


def test_the_runs_before_a_failure_are_kept(ks):
    done = ks("run", "--runs", "9", "-m", WALL, "--csv", "r.csv", "--", "sh", "-c",
              "echo x >> calls; [ $(wc -l < calls) != 4 ]", status=1)
    assert "run 4: sh failed with exit status 1" in done.stderr
    assert "the sweep ended after 3 of its runs" in done.stdout
    rows = list(csv.DictReader((ks.folder / "r.csv.partial").read_text().splitlines()))
    assert rows[0]["NumRuns"] == "3"


def test_tolerant_goes_on_and_marks_what_failed(ks):
    done = ks("run", "-p", "n=1..4", "--runs", "2", "--tolerant", "--csv", "r.csv", "--", "sh", "-c",
              "[ {n} != 3 ]", status=1)
    assert "3 of 4 configs succeeded" in done.stderr
    assert "all 2 runs failed: sh failed with exit status 1" in done.stdout
    assert len((ks.folder / "r.csv").read_text().splitlines()) == 1 + 4 * 4


def test_a_program_that_is_missing_fails_in_its_own_row(ks):
    done = ks("run", "-p", "p=true,nosuch", "--runs", "1", "-m", WALL, "--tolerant", "--csv", "-",
              "--", "{p}", status=1)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [r["Annotation"] for r in rows] == ["true", "nosuch"]
    assert rows[0]["Failure"] == "" and "cannot run 'nosuch'" in rows[1]["Failure"]


def test_a_parameter_that_the_program_does_not_get_is_told(ks):
    done = ks("run", "-p", "n=1,2", "-p", "m=1", "--env", "M={m}", "--runs", "1", "--", "true")
    assert done.stdout.count("note: ") == 1
    assert "the program does not use parameter n: write {n} where" in done.stdout


def test_all_failed_says_so(ks):
    done = ks("run", "--tolerant", "--runs", "1", "--", "false", status=1)
    assert "0 of 1 configs succeeded" in done.stderr


def test_a_hanging_program_is_ended(ks):
    done = ks("run", "--timeout", "0.3", "--runs", "1", "--", "sleep", "100", status=1)
    assert "ran longer than the timeout of 0.3 s" in done.stderr


def test_a_signal_is_named(ks):
    done = ks("run", "--runs", "1", "--", "sh", "-c", "kill -ABRT $$", status=1)
    assert "sh was killed by signal 6 (SIGABRT)" in done.stderr


def test_prepare_cwd_env_output(ks):
    (ks.folder / "sub").mkdir()
    ks("run", "-p", "n=3", "--runs", "2", "--warmup", "1", "--prepare", "echo {n} >> prepared",
       "--cwd", "sub", "--env", "A=<{n}>", "--env", "B=b", "--output", "out", "--",
       "sh", "-c", 'echo "$A$B"')
    assert (ks.folder / "sub/prepared").read_text() == "3\n" * 3
    assert (ks.folder / "out").read_text() == "<3>b\n" * 3
    done = ks("run", "--runs", "1", "--csv", "-", "--output", "inherit", "-q", "--", "echo", "hi")
    assert done.stderr == "hi\n"
    assert done.stdout.startswith("Annotation,")


def test_stderr_of_the_program_is_passed_on(ks):
    done = ks("run", "--runs", "2", "-q", "--", "sh", "-c", "echo oops >&2")
    assert done.stderr == "oops\noops\n"


def test_a_shuffle_is_repeated_by_its_seed(ks):
    orders = []
    for _ in range(2):
        ks("run", "-p", "n=1..20", "--order", "shuffled", "--seed", "5", "--runs", "1", "--output",
           "order", "--", "echo", "{n}")
        orders.append((ks.folder / "order").read_text().split())
    assert orders[0] == orders[1] != [str(n) for n in range(1, 21)]
    doc = ks.json("-p", "n=1..3", "--order", "shuffled", "--runs", "1", "--", "true")
    assert doc["plan"]["order"] == "shuffled" and doc["plan"]["seed"] > 0
    assert [r["n"] for r in doc["rows"][::4]] == [1, 2, 3]


def test_runs_are_found_out(ks):
    row = by(ks.rows("--runs", "auto", "--precision", "99", "--", "true"), Metric=WALL)
    assert row["NumRuns"] == "15" and row["StopReason"] == "precision"
    done = ks("run", "--runs", "auto", "--precision", "0.001", "--max-runs", "12", "--", "true")
    assert "at least 10 calls of true: 1 config x (10 to 12 runs)" in done.stderr
    assert "with all 12 runs that are allowed" in " ".join(done.stdout.split())


def test_configs_take_turns(ks):
    ks("run", "-p", "n=1..3", "--order", "interleaved", "--runs", "2", "--output", "order", "--",
       "echo", "{n}")
    assert (ks.folder / "order").read_text().split() == ["1", "2", "3", "1", "2", "3"]


def test_memory_of_small_programs(ks):
    def memory(*program):
        return by(ks.rows("--runs", "3", "-m", "cpu__max_rss.max", "--", *program), Metric="cpu__max_rss.max")
    if not SANITIZED:  # whose own memory is larger than the program's
        assert 2e6 < float(memory("bash", "-c", ":")["AvgValue"]) < 8e6
    small = memory("sleep", "0")  # about what the forked process needs before it becomes another program
    if small["AvgValue"]:
        assert 1e6 < float(small["AvgValue"]) < 4e6
    else:
        assert "below what the measuring process itself needs" in small["Failure"]


def test_the_file_of_a_command_says_what_was_run(ks):
    doc = ks.json("-p", "n=1", "--runs", "1", "--", "sh", "-c", "echo 'a b' {n}")
    assert doc["environment"]["command"] == (
        "kernsight run --json - -p n=1 --runs 1 -- sh -c 'echo '\\''a b'\\'' {n}'")
    assert doc["plan"]["runs"] == 1 and doc["plan"]["warmup"] == 0


def test_launches_of_a_program_are_refused_before_it_runs(ks):
    done = ks("run", "--launches", "--", "touch", "ran", status=3)
    assert "launches of kernels are seen from inside alone" in done.stderr
    assert done.stdout == ""
    assert not (ks.folder / "ran").exists()
