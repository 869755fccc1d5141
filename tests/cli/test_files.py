"""Results as other programs read them: cases C20, C21, C29, C32."""

import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

HARD = ["a,b", 'say "hi"', "two\nlines", "tab\there", "  pad  ", "🚀", "مرحبا", "=1+1", "", "None",
        "a\r\nb", "'quoted'"]


def spec(values):
    return "t=" + ",".join("'" + v.replace("'", "''") + "'" for v in values)


def test_texts_come_back_as_they_were(ks):  # C20
    args = ["-p", spec(HARD), "--runs", "1", "-m", "program__stdout_bytes.sum"]
    ks("run", *args, "--csv", "r.csv", "--json", "r.json", "--", "printf", "%s", "{t}",
       env={"LC_ALL": "C"})
    with open(ks.folder / "r.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    column = rows[0].index("t")
    assert [row[column] for row in rows[1:]] == HARD
    average = rows[0].index("AvgValue")
    assert [float(row[average]) for row in rows[1:]] == [len(v.encode()) for v in HARD]
    doc = json.loads((ks.folder / "r.json").read_text(encoding="utf-8"))
    assert [row["t"] for row in doc["rows"]] == HARD


def test_the_table_shows_escapes_and_stays_aligned(ks):  # C20
    done = ks("run", "-p", spec(HARD), "--runs", "1", "-m", "program__stdout_bytes.sum", "--",
              "true")
    lines = [line for line in done.stdout.splitlines() if line.startswith("true")]
    assert len(lines) == len(HARD)
    assert any("two\\nlines" in line for line in lines)
    assert "\t" not in done.stdout


def test_text_that_is_not_utf8_is_refused(ks):  # C20
    done = subprocess.run([os.environ["KERNSIGHT"], "run", "-p", b"t=\xed\xa0\x80", "--", "true"],
                          capture_output=True)
    assert done.returncode == 2
    assert b"not UTF-8: byte 0xED at position" in done.stderr


def test_csv_and_json_hold_the_same_numbers(ks):
    ks("run", "-p", "n=1,2", "--csv", "r.csv", "--json", "r.json", "--", "true", "{n}")
    with open(ks.folder / "r.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    doc = json.loads((ks.folder / "r.json").read_text())
    assert [c["name"] for c in doc["columns"]] == list(rows[0])
    for a, b in zip(rows, doc["rows"], strict=True):
        for column in doc["columns"]:
            cell, value = a[column["name"]], b[column["name"]]
            if value is None:
                assert cell == ""
            elif column["type"] in ("float64", "int64"):
                assert float(cell) == value
            else:
                assert cell == str(value)
    assert doc["configs"] == [{"n": 1}, {"n": 2}]
    assert [doc["configs"][s["config"]]["n"] for s in doc["samples"]] == [1] * 4 + [2] * 4
    samples = doc["samples"][0]
    assert samples["values"] and sum(samples["values"]) / len(samples["values"]) == pytest.approx(
        doc["rows"][0]["AvgValue"], rel=1e-12)


def test_times_are_utc_in_every_zone(ks):  # C32
    import datetime
    for zone in ("Asia/Kolkata", "America/New_York", "UTC"):
        before = datetime.datetime.now(datetime.timezone.utc)
        doc = ks.json("--runs", "1", "--", "true", env={"TZ": zone, "LC_TIME": "de_DE.UTF-8"})
        after = datetime.datetime.now(datetime.timezone.utc)
        start = datetime.datetime.fromisoformat(doc["environment"]["start"].replace("Z", "+00:00"))
        end = datetime.datetime.fromisoformat(doc["environment"]["end"].replace("Z", "+00:00"))
        assert before <= start <= end <= after


def test_a_full_disk_keeps_the_old_file_and_the_other_outputs(ks):  # C29
    done = ks("run", "--runs", "1", "--csv", "/dev/full", "--json", "r.json", "--", "true", status=1)
    assert "cannot write /dev/full: No space left on device" in done.stderr
    assert json.loads((ks.folder / "r.json").read_text())["rows"]
    assert "true" in done.stdout


def test_a_full_disk_takes_json_likewise(ks):  # C29
    done = ks("run", "--runs", "1", "--json", "/dev/full", "--csv", "r.csv", "--", "true", status=1)
    assert re.search("/dev/full: .*No space left on device", done.stderr)
    assert (ks.folder / "r.csv").read_text().startswith("Annotation,")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
                           capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {mount.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("option", ["--csv", "--json"])
def test_a_disk_that_fills_up_keeps_the_old_file(ks, small_disk, option):  # C29
    target = small_disk / "r"
    target.write_text("old")
    done = ks("run", "-q", "-p", "n=1..400", "--runs", "1", option, target, "--", "true", "{n}",
              status=1)
    assert re.search(f"{target}: .*No space left on device\n$", done.stderr)
    assert [path.name for path in small_disk.iterdir()] == ["r"]
    assert target.read_text() == "old"
    assert done.stdout.count("\ntrue ") == 400  # the table is shown all the same


def test_an_old_file_that_is_read_only_and_being_read_is_replaced(ks):  # C29
    (ks.folder / "r.csv").write_text("old\n")
    (ks.folder / "r.csv").chmod(0o444)
    with open(ks.folder / "r.csv") as reader:
        ks("run", "--runs", "1", "--csv", "r.csv", "--", "true")
        assert reader.read() == "old\n"
    assert (ks.folder / "r.csv").read_text().startswith("Annotation,")
    assert [path.name for path in ks.folder.iterdir()] == ["r.csv"]


def test_neither_home_nor_a_folder_for_temporary_files_is_needed(ks):  # C29
    env = {"HOME": "", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "",
           "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": ""}
    ks("run", "--runs", "1", "--csv", "r.csv", "--json", "r.json", "--", "true", env=env)
    assert sorted(path.name for path in ks.folder.iterdir()) == ["r.csv", "r.json"]


def test_a_full_stdout_is_told(ks):
    with open("/dev/full", "w") as full:
        done = subprocess.run([os.environ["KERNSIGHT"], "run", "--runs", "1", "--csv",
                               ks.folder / "r.csv", "--", "true"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to stdout: No space left on device" in done.stderr
    assert (ks.folder / "r.csv").exists()


def test_a_reader_that_goes_away_costs_nothing(ks):
    script = (f"{os.environ['KERNSIGHT']} run -q -p n=1..40 --runs 1 --csv r.csv -- true 2>err | "
              "head -n 1; echo ${PIPESTATUS[0]}")
    done = subprocess.run(["bash", "-c", script], cwd=ks.folder, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert (ks.folder / "err").read_text() == ""
    assert len((ks.folder / "r.csv").read_text().splitlines()) == 1 + 40 * 4


@pytest.mark.parametrize("path, message", [
    ("nowhere/r.csv", "the folder nowhere/: No such file"),
    (".", "Is a directory"),
    ("/etc/hostname/x.csv", "Not a directory"),
])
def test_outputs_are_checked_before_anything_runs(ks, path, message):
    for option in ("--csv", "--json"):
        done = ks("run", option, path, "--", "touch", "ran", status=1)
        assert message in done.stderr
        assert not (ks.folder / "ran").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(ks):  # C29
    (ks.folder / "sub").mkdir()
    (ks.folder / "sub/r.csv").write_text("old")
    (ks.folder / "sub").chmod(0o555)
    done = ks("run", "--csv", "sub/r.csv", "--", "touch", "ran", status=2)
    (ks.folder / "sub").chmod(0o755)
    assert "sub/r.csv: the folder sub/: Permission denied" in done.stderr
    assert (ks.folder / "sub/r.csv").read_text() == "old"
    assert not (ks.folder / "ran").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_folder_on_the_path_that_may_not_be_searched_is_passed_over():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(mode=0o700)
        shutil.copy(os.environ["KERNSIGHT"], folder / "kernsight")
        shutil.copy(os.environ["KERNSIGHT_LIBRARY"], folder / "libkernsight.so.0")
        env = {**os.environ, "LD_LIBRARY_PATH": name, "PATH": f"{folder}/closed:/usr/bin:/bin"}
        run = [folder / "kernsight", "run", "-q", "--runs", "1", "--"]
        done = subprocess.run([*run, "true"], user="nobody", env=env, cwd="/", capture_output=True)
        assert done.returncode == 0
        done = subprocess.run([*run, "nosuch"], user="nobody", env=env, cwd="/", capture_output=True)
        assert b"cannot run 'nosuch': there is no such program" in done.stderr
        done = subprocess.run([*run, f"{folder}/closed/x"], user="nobody", env=env, cwd="/",
                              capture_output=True)
        assert b"/closed/x': Permission denied" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_folder_of_somebody_else():  # C29
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(os.environ["KERNSIGHT"], folder / "kernsight")
        shutil.copy(os.environ["KERNSIGHT_LIBRARY"], folder / "libkernsight.so.0")
        (folder / "r.csv").write_text("old")
        done = subprocess.run([folder / "kernsight", "run", "--csv", folder / "r.csv", "--", "true"],
                              user="nobody", capture_output=True, text=True, cwd="/",
                              env={**os.environ, "LD_LIBRARY_PATH": name})
        assert "r.csv: the folder" in done.stderr and "Permission denied" in done.stderr
        assert done.returncode == 2
        assert (folder / "r.csv").read_text() == "old"
