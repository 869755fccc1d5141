"""What a person sees: progress, colour, width; and interruption (C28)."""

import csv
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import fcntl
import termios
import time

import pytest

PROGRAM = os.environ["KERNSIGHT"]


def on_terminal(args, columns=80, env=None, stdout=None):
    """Run kernsight with stderr (and stdout, unless given) on a terminal; return what it shows."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    environment.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **(env or {})})
    process = subprocess.Popen([PROGRAM, *args], stdin=other, stdout=stdout or other, stderr=other,
                               env=environment, start_new_session=True)
    os.close(other)
    shown = b""
    while True:
        ready, _, _ = select.select([main], [], [], 30)
        try:
            piece = os.read(main, 65536) if ready else b""
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    assert process.wait(30) == 0, shown
    return shown.decode().replace("\r\n", "\n")


def test_progress_is_rewritten_in_place_and_gone_at_the_end():
    shown = on_terminal(["run", "-p", "n=1..3", "--runs", "3", "--", "sleep", "0.05"])
    assert "9 calls of sleep: 3 configs x (3 runs)" in shown
    assert re.search(r"\r\x1b\[Kconfig 2/3 \(n=2\), run \d/3, \d s left", shown), shown
    before_table = shown[:shown.index("cpu__time_duration.sum")]
    assert before_table.rstrip(" ").endswith("\r\x1b[K\x1b[1m"), repr(before_table)


def test_doctor_wraps_its_lines_on_a_terminal(ks):
    def words(text):
        return re.sub(r"\x1b\[[0-9;]*m", "", text).split()

    shown = on_terminal(["doctor"])
    assert max(map(len, shown.splitlines())) <= 80
    plain = ks("doctor").stdout
    assert [w for w in words(shown) if not w[0].isdigit()] == [w for w in words(plain) if not w[0].isdigit()]


def test_noise_shows_its_progress_on_a_terminal_and_removes_it(ks):
    shown = on_terminal(["doctor", "--noise", "0.1"])
    assert re.match(r"\r\x1b\[Kmeasuring this machine: 0 s of about 0 s(.*)\r\x1b\[Ka kernel of", shown, re.S), shown
    assert ks("doctor", "--noise", "0.1").stderr == ""


def test_without_a_terminal_there_are_no_escapes(ks):
    done = ks("run", "-p", "n=1..3", "--runs", "2", "--", "true")
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == "6 calls of true: 3 configs x (2 runs)\n"
    assert ks("run", "-q", "--", "true").stderr == ""


def test_no_color_and_dumb_terminals_are_obeyed():
    args = ["run", "-q", "--runs", "1", "--", "true"]
    assert "\x1b[1m" in on_terminal(args)
    assert "\x1b" not in on_terminal(args, env={"NO_COLOR": "1"})
    assert "\x1b" not in on_terminal(args, env={"TERM": "dumb"})


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_a_table_fits_its_terminal(columns):
    shown = on_terminal(["run", "-q", "-p", "name='" + "x" * 70 + "','" + "x" * 69 + "y'", "--runs",
                         "3", "--", "true"], columns, {"NO_COLOR": "1"})
    assert max(len(line) for line in shown.splitlines()) <= columns
    names = {line.split()[1] for line in shown.splitlines() if line.startswith("true")}
    assert len(names) >= 2, shown


def test_columns_can_be_given_by_the_environment():
    shown = on_terminal(["run", "-q", "--runs", "2", "--", "true"], 200,
                        {"COLUMNS": "40", "NO_COLOR": "1"})
    assert max(len(line) for line in shown.splitlines()) <= 45


def test_a_terminal_without_utf8_gets_ascii():
    shown = on_terminal(["run", "-q", "--runs", "3", "--", "true"], env={"LC_ALL": "C"})
    assert shown.isascii() and "+-" in shown


def start(folder, *args, **options):
    return subprocess.Popen([PROGRAM, "run", *args], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8", **options)


def told(path):
    """What a program writes to a file, as soon as it has."""
    deadline = time.time() + 30
    while not path.exists() or not path.read_text():
        assert time.time() < deadline
        time.sleep(0.02)
    return path.read_text()


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupting_keeps_finished_configs_and_ends_the_program(ks, number, status):  # C28
    process = start(ks.folder, "-p", "n=1..100", "--runs", "1", "--csv", "r.csv", "--json", "r.json", "--",
                    "sh", "-c", "[ {n} -lt 20 ] || { echo {n} > started; sleep 60 & echo $! > pid; "
                                "wait; }")
    pid = int(told(ks.folder / "pid"))
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == status
    assert "cancelled after 19 of 100 configs" in stderr
    assert "partial: 19 of 100 configs are finished" in stdout
    lines = (ks.folder / "r.csv.partial").read_text()
    assert lines.endswith("\n") and len(lines.splitlines()) == 1 + 19 * 4
    document = json.loads((ks.folder / "r.json.partial").read_text())
    assert document["environment"]["complete"] is False and document["environment"]["finished"] == 19
    assert len(document["rows"]) == 19 * 4
    assert not (ks.folder / "r.csv").exists() and not (ks.folder / "r.json").exists()
    for _ in range(100):  # its children are ended with it
        try:
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            break
        if state == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the program's child lives on")


@pytest.mark.parametrize("args, runs", [
    (["--runs", "20"], [6]),
    (["--runs", "20", "-p", "n=1,2,3", "--order", "interleaved"], [2, 2, 2]),
])
def test_an_interrupted_config_shows_the_runs_that_it_had(ks, args, runs):
    process = start(ks.folder, *args, "--csv", "r.csv", "--", "sh", "-c",
                    "echo >> calls; [ $(wc -l < calls) -lt 7 ] || { echo > started; sleep 60; }")
    told(ks.folder / "started")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"cancelled after 0 of {len(runs)} configs" in stderr
    table = stdout.split("\n\n")[0].splitlines()
    assert "cpu__time_duration.sum" in table[0] and len(table) == 2 + len(runs)
    assert f"the sweep ended after {runs[0]} of its runs" in stdout
    rows = csv.DictReader((ks.folder / "r.csv.partial").read_text().splitlines())
    assert [int(r["NumRuns"]) for r in rows if r["Metric"] == "cpu__time_duration.sum"] == runs


def test_interrupted_before_anything_is_finished(ks):
    process = start(ks.folder, "--", "sh", "-c", "echo > started; sleep 60")
    told(ks.folder / "started")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stdout == ""
    assert "cancelled after 0 of 1 configs" in stderr


def test_killing_leaves_no_broken_file(ks):  # C28
    (ks.folder / "r.csv").write_text("old")
    process = start(ks.folder, "-p", "n=1..100", "--runs", "1", "--csv", "r.csv", "--json", "r.json", "--",
                    "sh", "-c", "[ {n} -lt 20 ] || { echo $$ > started; exec sleep 60; }")
    pid = int(told(ks.folder / "started"))
    process.kill()
    process.communicate(timeout=30)
    os.kill(pid, signal.SIGKILL)  # nobody is left to do it
    assert process.returncode == -signal.SIGKILL
    assert sorted(path.name for path in ks.folder.iterdir()) == ["r.csv", "started"]
    assert (ks.folder / "r.csv").read_text() == "old"
