"""kernsight run --file: YAML and JSON."""

import json

import pytest

SWEEP = """\
# a comment
param:
  n: [1, 2]
  kind: [fast, "3", 'a, b']
  x: 0..1+0.5
runs: 2
warmup: 1
metric: [program__stdout_bytes.sum, cpu__time_duration.sum]
tolerant: false
env:
  A: "1"
program: [printf, "%s", "{n}{kind}"]
"""


def test_a_yaml_file_is_a_sweep(ks):
    (ks.folder / "s.yaml").write_text(SWEEP)
    rows = ks.rows("--file", "s.yaml")
    assert len(rows) == 2 * 3 * 3 * 2
    assert [r["kind"] for r in rows[:18:6]] == ["fast", "3", "a, b"]
    assert [r["x"] for r in rows[:6:2]] == ["0.0", "0.5", "1.0"]
    assert rows[0]["n"] == "1" and rows[0]["NumRuns"] == "2"
    assert float(rows[0]["AvgValue"]) == len("1fast")


def test_the_command_line_wins(ks):
    (ks.folder / "s.yaml").write_text(SWEEP)
    rows = ks.rows("--runs", "3", "-p", "n=7", "--file", "s.yaml", "--", "printf", "%s", "{n}")
    assert len(rows) == 1 * 3 * 3 * 2
    assert {r["n"] for r in rows} == {"7"} and rows[0]["NumRuns"] == "3"
    assert float(rows[0]["AvgValue"]) == 1


@pytest.mark.parametrize("file, args, runs", [
    ("runs: auto\nprecision: 3\nmin-runs: 5\nmax-runs: 7\nbudget: 9", ["--runs", "2"], "2"),
    ("runs: 2\norder: shuffled\nseed: 7", ["--order", "given"], "2"),
    ("runs: 4", ["--runs", "auto", "--min-runs", "3", "--max-runs", "3"], "3"),
])
def test_an_option_of_the_command_line_takes_along_what_went_with_the_files(ks, file, args, runs):
    (ks.folder / "s.yaml").write_text(file + "\nprogram: ['true']\n")
    assert ks.rows("--file", "s.yaml", *args)[0]["NumRuns"] == runs


def test_what_goes_together_on_the_command_line_alone_is_still_checked(ks):
    (ks.folder / "s.yaml").write_text("runs: auto\nprogram: ['true']\n")
    done = ks("run", "--file", "s.yaml", "--precision", "3", "--runs", "2", status=2)
    assert "have no use without --runs auto" in done.stderr


def test_json_is_yaml(ks):
    (ks.folder / "s.json").write_text(json.dumps(
        {"param": {"t": ["\u00b5", "x"]}, "zip": True, "runs": 1, "program": ["echo", "{t}"]}))
    rows = ks.rows("--file", "s.json")
    assert [r["t"] for r in rows[::4]] == ["µ", "x"]


def test_plain_numbers_are_numbers_and_quoted_ones_text(ks):
    (ks.folder / "s.yaml").write_text("param:\n  a: [1024, 2]\n  b: ['1024']\n"
                                      "program: ['true']\nruns: 1\n")
    doc = ks.json("--file", "s.yaml")
    assert doc["rows"][0]["a"] == 1024 and doc["rows"][0]["b"] == "1024"


@pytest.mark.parametrize("text, message", [
    ("runs: [1", "line 2, column 1"),
    ("runs: [1, 2]", "line 1, column 7: one value is expected"),
    ("rums: 3", "line 1, column 1: there is no option 'rums'; there are program, param, zip"),
    ("rums: [3]", "there is no option 'rums'"),
    ("csv: a\ncsv: b", "line 2, column 1: this option is given twice"),
    ("metric: a\nmetric: b", "this option is given twice"),
    ("file: x.yaml", "a sweep file cannot name another one"),
    ("runs: 2.5", "line 1, column 7: runs takes a whole number from 1"),
    ("timeout: 5m", "line 1, column 10: timeout takes seconds"),
    ("param: {n: 1,2,3}", "line 1, column 14: this parameter has no values; a list is written [1"),
    ("csv:", "line 1, column 1: this option has no value"),
    ("param: 3", "param is a map"),
    ("param:\n  n: {a: 1}", "line 2, column 6: values are a list"),
    ("param:\n  n: [[1]]", "line 2, column 7: a number or a text is expected"),
    ("param:\n  n: []", "a value is expected"),
    ("param:\n  n: 1\n  n: 2", "line 3, column 3: this parameter is given twice"),
    ("program: gzip", "program is a list"),
    ("zip: maybe", "zip is true or false, not 'maybe'"),
    ("- a\n- b", "a map of options is expected"),
    ("", "a map of options is expected"),
    ("runs: 3\nruns: x", "not 'x'"),
    ("\tx: 1", "line 1"),
])
def test_mistakes_are_named_with_their_place(ks, text, message):
    (ks.folder / "s.yaml").write_text(text)
    done = ks("run", "--file", "s.yaml", "--", "touch", "ran", status=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (ks.folder / "ran").exists()


def test_a_file_that_cannot_be_read(ks):
    assert "sweep file nowhere.yaml: cannot read it: No such file" in ks(
        "run", "--file", "nowhere.yaml", status=2).stderr
    assert "s.yaml" in ks("run", "--file", "s.yaml", "--", "true", status=2).stderr
