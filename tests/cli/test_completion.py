"""What the shells offer, by their own machinery: bash's function, zsh on a terminal."""

import os
import pty
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from conftest import PROGRAM

SCRIPTS = Path(__file__).resolve().parents[2] / "cli/completion"
WALL = "cpu__time_duration.sum"

needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.csv").write_text("")
    (tmp_path / "two words.csv").write_text("")
    (tmp_path / "sub").mkdir()
    return tmp_path


def listed(ks, *command):
    return [line.split("\t") for line in ks("help", "--list", *command).stdout.splitlines()]


def bash(folder, line):
    """The words that bash offers at the end of a line, which it splits at = and : too."""
    words = [piece for word in line.split(" ") for piece in re.findall(r"[=:]+|[^=:]+", word) or [""]]
    script = ('source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
              '_kernsight "$KERNSIGHT" "${COMP_WORDS[-1]}"; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", SCRIPTS / "kernsight.bash", *words],
                          cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [word for word in done.stdout.split("\n") if word]


def test_bash_offers_each_command(ks, folder):
    assert set(bash(folder, "kernsight ")) == {c[0] for c in listed(ks)} | {"--help", "--version"}
    assert bash(folder, "kernsight ru") == ["run"]


def test_bash_offers_each_option(ks, folder):
    for command, _ in listed(ks):
        names = {name for _, name, _, _ in listed(ks, command) if name != "-"}
        assert len(names) >= 2
        assert set(bash(folder, f"kernsight {command} -")) == names
        assert set(bash(folder, f"kernsight {command} --")) == names


@pytest.mark.parametrize("line, words", [
    ("kernsight run --tim", ["--timeout"]),
    ("kernsight run --zip --tim", ["--timeout"]),
    ("kernsight run -p n=1,2 --csv one.csv --tim", ["--timeout"]),
    ("kernsight run --order ", ["given", "interleaved", "shuffled"]),
    ("kernsight run --order=s", ["shuffled"]),
    ("kernsight run --order=", ["given", "interleaved", "shuffled"]),
    ("kernsight run --csv ", ["one.csv", "sub", "two words.csv"]),
    ("kernsight run --csv=o", ["one.csv"]),
    ("kernsight run --csv two", ["two words.csv"]),
    ("kernsight run --cwd ", ["sub"]),
    ("kernsight run --output ", ["inherit", "one.csv", "sub", "two words.csv"]),
    ("kernsight run --runs ", ["auto"]),
    ("kernsight run -m cpu__time", [WALL]),
    ("kernsight run --metric=cpu__time", [WALL]),
    ("kernsight run -m cpu__user_time.sum,cpu__time", [f"cpu__user_time.sum,{WALL}"]),
    ("kernsight metrics cpu__time", [WALL]),
    ("kernsight help doc", ["doctor"]),
    ("kernsight run -- localed", ["localedef"]),
    ("kernsight run localed", ["localedef"]),
    ("kernsight run -- cat o", ["one.csv"]),
    ("kernsight run -p n=1 cat o", ["one.csv"]),
    ("kernsight run -- cat --tim", []),
    ("kernsight run cat --tim", []),
    ("kernsight doctor ", []),
    ("kernsight nonsense --", []),
])
def test_bash_completes(folder, line, words):
    assert sorted(bash(folder, line)) == words


class Zsh:
    """A zsh on a terminal: what is typed, and what the line is then.

    It has started once its line editor reads: keys that come before are the terminal's.
    """

    SETUP = """\
PROMPT='ready> ' fpath=({scripts} $fpath)
autoload -U compinit && compinit -u -D
PATH={bin}:$PATH
dump() {{ print -r -- "$BUFFER" >line.new && mv line.new line }}
zle -N dump && bindkey '^X^D' dump
zle-line-init() {{ : >started }}
zle -N zle-line-init
"""

    def __init__(self, folder):
        self.folder = folder
        (folder / ".zshrc").write_text(self.SETUP.format(scripts=SCRIPTS, bin=Path(PROGRAM).parent))
        self.main, other = pty.openpty()
        env = {**os.environ, "ZDOTDIR": str(folder), "TERM": "dumb", "HOME": str(folder)}
        self.process = subprocess.Popen(["zsh", "-d", "-i"], cwd=folder, env=env, stdin=other,
                                        stdout=other, stderr=other, start_new_session=True)
        os.close(other)
        self.wait("started")

    def wait(self, name):
        deadline = time.time() + 60
        while not (self.folder / name).exists():
            assert time.time() < deadline, os.read(self.main, 65536)
            time.sleep(0.01)

    def complete(self, text):
        """The line after text and a tab."""
        (self.folder / "line").unlink(missing_ok=True)
        os.write(self.main, b"\x15" + text.encode() + b"\t\x18\x04")
        self.wait("line")
        return (self.folder / "line").read_text().rstrip("\n")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.main)


@needs_zsh
def test_zsh_completes(folder):
    zsh = Zsh(folder)
    try:
        for typed, line in [  # a , or = at the end goes away with a blank behind it
            ("kernsight doc", "kernsight doctor "),
            ("kernsight run --tim", "kernsight run --timeout="),
            ("kernsight run --zip --tole", "kernsight run --zip --tolerant "),
            ("kernsight run --order=s", "kernsight run --order=shuffled "),
            ("kernsight run --order s", "kernsight run --order shuffled "),
            ("kernsight run --runs ", "kernsight run --runs auto "),
            ("kernsight run --csv o", "kernsight run --csv one.csv "),
            ("kernsight run --cwd ", "kernsight run --cwd sub/"),
            ("kernsight run --output in", "kernsight run --output inherit "),
            ("kernsight run -m cpu__time", f"kernsight run -m {WALL},"),
            ("kernsight run -m cpu__user_time.sum,cpu__time", f"kernsight run -m cpu__user_time.sum,{WALL},"),
            ("kernsight metrics cpu__time", f"kernsight metrics {WALL} "),
            ("kernsight metrics --js", "kernsight metrics --json "),
            ("kernsight help doc", "kernsight help doctor "),
            ("kernsight run -- localed", "kernsight run -- localedef "),
            ("kernsight run --zip localed", "kernsight run --zip localedef "),
            ("kernsight run -- cat one", "kernsight run -- cat one.csv "),
        ]:
            assert zsh.complete(typed) == line
    finally:
        zsh.close()
