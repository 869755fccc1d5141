"""Help, metrics, doctor: what they say is true."""

import json
import os
import re
import shlex
import subprocess

import pytest

COMMANDS = ["run", "metrics", "doctor", "help"]

# a value that each option of `run` takes
VALUES = {
    "--param": "n=1", "--metric": "cpu__time_duration.sum", "--runs": "1", "--warmup": "0",
    "--precision": "50", "--min-runs": "3", "--max-runs": "1000", "--budget": "9",
    "--order": "given", "--clock-control": "none", "--thermal": "off", "--seed": "5", "--max-configs": "5", "--file": "sweep.yaml",
    "--prepare": "true", "--cwd": ".", "--env": "A=1", "--timeout": "5", "--output": "out",
    "--csv": "r.csv", "--json": "r.json", "--zip": True, "--tolerant": True, "--quiet": True, "--launches": True,
    "--plot": "r.svg", "--plot-metric": "cpu__time_duration.sum", "--plot-x": "n", "--plot-panels": "n",
}

# what some options are of use with only
WITH = {"--seed": ["--order", "shuffled"],
        **{name: ["--plot", "r.svg", "-p", "n=1"]
           for name in ("--plot-metric", "--plot-x", "--plot-panels")},
        **{name: ["--runs", "auto", "--budget", "1"]
           for name in ("--precision", "--min-runs", "--max-runs", "--budget")}}


def options_of(help_text):
    """Long options that a help text defines, with whether they take a value."""
    found = re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)(=\S+)?", help_text, re.M)
    return {name: value != "" for name, value in found
            if name not in ("--help", "--usage", "--version")}


def test_help_defines_the_options_that_there_are(ks):
    (ks.folder / "sweep.yaml").write_text("runs: 1\n")
    options = options_of(ks("help", "run").stdout)
    assert set(options) == set(VALUES)
    for name, takes_value in options.items():
        value = VALUES[name]
        args = [f"{name}={value}"] if takes_value else [name]
        assert takes_value == (value is not True)
        status = 3 if name == "--launches" else 0  # no program's kernels are seen
        ks("run", *WITH.get(name, []), *args, "--", "true", status=status)


def test_help_mentions_no_other_option(ks):
    for command in COMMANDS:
        text = ks("help", command).stdout
        known = set(options_of(text)) | {"--help", "--usage", "--version"}
        known |= set(options_of(ks("help", "run").stdout))
        known |= set(options_of(ks("help", "metrics").stdout))
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_every_example_of_help_run_is_valid(ks):
    text = ks("help", "run").stdout
    (ks.folder / "file").write_text("x" * 1000)
    (ks.folder / "solver").write_text("#!/bin/sh\nexit 0\n")
    (ks.folder / "solver").chmod(0o755)
    sweep = re.search(r"A sweep file [^\n]*:\n((?:  .*\n)+)", text).group(1)
    (ks.folder / "sweep.yaml").write_text("\n".join(line[2:] for line in sweep.splitlines()) + "\n")
    examples = re.findall(r"^  (kernsight run .*?)(?:  +\(.*\))?$", text, re.M)
    assert len(examples) >= 5
    for example in examples:
        words = shlex.split(example)[1:]
        words = ["true" if word == "make" else word for word in words]
        words[1:1] = ["--runs", "1"]
        ks(*words)


def test_help_is_the_same_three_ways(ks):
    assert ks("help", "run").stdout == ks("run", "--help").stdout
    assert ks("help").stdout == ks("--help").stdout
    assert ks(status=2).stdout == ks("help").stdout
    assert re.fullmatch(r"kernsight \d+\.\d+\.\d+\n", ks("--version").stdout)


@pytest.mark.parametrize("args", [
    ["rum"], ["help", "rum"], ["run", "--rums", "3", "--", "true"], ["metrics", "--josn"],
    ["doctor", "extra"], ["metrics", "a", "b"],
])
def test_wrong_words_are_told(ks, args):
    done = ks(*args, status=2)
    assert done.stdout == ""
    assert args[-1] in done.stderr or args[1] in done.stderr or "Too many" in done.stderr


def test_metrics_are_listed(ks):
    text = ks("metrics", "cpu__*_time.sum").stdout
    assert re.search(r"^cpu__user_time.sum +ns +duration +clock +region, program$", text, re.M)
    listed = json.loads(ks("metrics", "--json").stdout)
    assert {m["Metric"] for m in listed} >= {"cpu__time_duration.sum", "program__stdout_bytes.sum"}
    assert all(m["Available"] is (m["Reason"] is None) for m in listed)
    assert all(m["Available"] for m in listed if m["Collector"] == "clock")
    lines = ks("metrics").stdout.splitlines()
    assert max(len(line) for line in lines if "not available here" not in line) <= 80
    done = ks("metrics", "cpu__thread", status=2)
    assert "did you mean cpu__thread_time.sum" in done.stderr


def test_the_doctor_measures_noise(ks):
    text = ks("doctor", "--noise", "0.1").stdout
    assert re.search(r"^a kernel of [\d.]+ ms against itself, 50 pairs$", text, re.M)
    assert re.search(r"^   10 runs +[\d.]+ %   in turn \d, one after the other \d, of 4$", text, re.M)
    assert "100 runs     not enough time" in text
    assert max(map(len, text.splitlines())) <= 80
    report = json.loads(ks("doctor", "--noise", "0.1", "--json").stdout)
    assert report["pairs"] == 50 and report["kernel_ns"] > 0
    assert report["comparisons"][2]["difference_pct"] is None
    assert "only --noise takes an argument" in ks("doctor", "--noise", "3s", status=2).stderr
    assert "with --noise only" in ks("doctor", "5", status=2).stderr


def test_the_doctor_says_what_works(ks):
    text = ks("doctor").stdout
    assert re.search(r"^clock  \(times and memory\)\n  available +yes\n", text, re.M)
    facts = json.loads(ks("doctor", "--json").stdout)
    cost = [f for f in facts if f["Fact"] == "clock_cost_ns"]
    assert len(cost) == 1 and float(cost[0]["Value"]) > 0
    cost = [f for f in facts if f["Fact"] == "annotation_cost_ns"]
    assert len(cost[0]["Value"].replace(".", "").strip("0")) <= 3


def test_the_doctor_says_whether_plots_can_be_drawn(ks):
    def plots(**env):
        facts = json.loads(ks("doctor", "--json", env=env).stdout)
        return {f["Fact"]: (f["Value"], f["Cure"]) for f in facts if f["Collector"] == "plots"}

    folder = ks.folder / "bin"
    folder.mkdir()
    missing = plots(PATH=str(folder))
    assert missing["available"][0].startswith("no: cannot start gnuplot: No such file")
    assert missing["available"][1] == "apt-get install gnuplot-nox" and len(missing) == 1
    gnuplot = folder / "gnuplot"
    gnuplot.write_text("#!/bin/sh\n[ $1 = --version ] && echo 'gnuplot 7.7 patchlevel 7'\n")
    gnuplot.chmod(0o755)
    assert plots(PATH=str(folder)) == {"available": ("yes", None), "gnuplot": ("gnuplot 7.7 patchlevel 7", None)}


@pytest.mark.parametrize("args", [["help", "run"], ["run", "--help"], ["help"], ["help", "--man", "run"], ["--version"],
                                  ["doctor"], ["metrics", "--help"]])
def test_a_stdout_that_takes_nothing_is_told(ks, args):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([os.environ["KERNSIGHT"], *args], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"kernsight: cannot write to stdout: No space left on device\n"
