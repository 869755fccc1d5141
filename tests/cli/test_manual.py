"""Manual pages say what --help says, and are sound."""

import itertools
import re
import shutil
import subprocess

import pytest

needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
needs_mandoc = pytest.mark.skipif(shutil.which("mandoc") is None, reason="there is no mandoc")
COMMANDS = ["", "run", "metrics", "doctor", "help"]


def render(page, width=None):
    """What a reader sees, without bold, on lines that are long unless told otherwise."""
    args = ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", "-rHY=0", f"-rLL={width or 2000}n"]
    done = subprocess.run(args, input=page, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout


def words(text):
    """Text with each gap a blank, and minus signs as they are typed."""
    return " ".join(text.replace("\u2212", "-").split())


def options_of_help(text):
    """Each option, as --help writes it, with its text."""
    found = re.findall(r"^ {2,6}((?:-., )?--\S+)(?: +|\n {20,})(\S.*(?:\n {20,}\S.*)*)", text, re.M)
    return {option: words(doc) for option, doc in found}


def options_of_page(page):
    """The same of a rendered page: its text stands on the line below, or behind a short option."""
    found = re.findall(r"^ {7}((?:-., )?--\S+)(?:\n {14}| +)(\S.*)", page, re.M)
    return {option: words(doc) for option, doc in found}


def test_the_pages_are_those_of_the_commands(ks):
    listed = [line.split("\t")[0] for line in ks("help", "--list").stdout.splitlines()]
    assert COMMANDS == ["", *listed]


@needs_groff
@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_page_has_the_options_of_the_help(ks, command):
    wanted = options_of_help(ks("help", command).stdout)
    assert len(wanted) >= 3
    assert options_of_page(render(ks("help", "--man", command).stdout)) == wanted


def texts_of_help(text):
    """Its usage, running texts as one line each, lines that keep their shape; without options."""
    usage, *lines = [line for line in text.splitlines() if not re.match(r" {2,6}-| {20,}", line)]
    yield usage
    for kept, group in itertools.groupby(lines, lambda line: line[:2] == "  " or line == ""):
        yield from map(words, group) if kept else [words(" ".join(group))]


@needs_groff
@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_each_text_of_the_help(ks, command):
    page = words(render(ks("help", "--man", *command.split()).stdout))
    texts = list(texts_of_help(ks("help", *command.split()).stdout))
    assert len(texts) >= 5
    for text in texts:
        text = re.sub(r"^Usage: |^(Examples|Environment|Exit status):|^Mandatory or optional .*|:$", "", text)
        assert text.strip() in page


@needs_groff
def test_summaries_are_on_the_pages(ks):
    for name, summary in [line.split("\t") for line in ks("help", "--list").stdout.splitlines()]:
        assert f"kernsight-{name} - {summary}" in words(render(ks("help", "--man", name).stdout))
        assert f"{name} {summary}" in words(render(ks("help", "--man").stdout))


@needs_groff
@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_fits_80_columns(ks, command):
    page = render(ks("help", "--man", *command.split()).stdout, width=78)
    assert max(len(line) for line in page.splitlines()) <= 80


@needs_mandoc
@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_nothing_to_complain_about(ks, command):
    page = ks("help", "--man", *command.split()).stdout
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=page, capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
    assert said == []  # a date would make each build another one
