"""README and docs say what is true: their examples run, their paths exist, their columns are the table's."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import CUPTI, PROGRAM, SANITIZED, needs_cupti

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIBRARY = Path(os.environ["KERNSIGHT_LIBRARY"])


def example(language):
    """The one code block of that language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.S | re.M)
    return block


@pytest.fixture
def folder(tmp_path):
    """What the command line examples speak of."""
    (tmp_path / "file").write_text("some text to press\n" * 5000)
    (tmp_path / "solver").write_text("#!/bin/sh\necho solved $*\n")
    (tmp_path / "solver").chmod(0o755)
    (tmp_path / "sweep.yaml").write_text("param:\n  n: 1..3\nruns: 2\nprogram: [./solver, '{n}']\n")
    return tmp_path


def commands():
    """The lines of the example; what asks CUPTI needs it."""
    return [pytest.param(line, marks=needs_cupti if "--chip" in line else ())
            for line in example("sh").splitlines()]


@pytest.mark.parametrize("line", commands())
def test_command(line, folder):
    env = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"}
    if "--chip" in line:
        env["KERNSIGHT_CUPTI_LIB"] = str(CUPTI)
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=env, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout


@pytest.mark.skipif(SANITIZED, reason="a sanitized library wants a program built likewise")
def test_c_program(tmp_path):
    (tmp_path / "program.c").write_text(example("c"))
    subprocess.run(["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Werror",
                    f"-I{ROOT / 'include'}", "program.c", "-o", "program", str(LIBRARY),
                    f"-Wl,-rpath,{LIBRARY.parent}"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("sum ")]
    assert rows == [["sum", n] for n in ("1000", "10000", "100000", "1000000")]


def test_places_exist():
    table = README.split("## Where things are")[1]
    places = [place for row in re.findall(r"^\| (`.*?) \|", table, re.M) for place in re.findall(r"`(.*?)`", row)]
    assert len(places) > 10
    assert not [place for place in places if not (ROOT / place).exists()]


def test_every_folder_has_its_place():
    table = README.split("## Where things are")[1]
    folders = [f"src/{path.name}/" for path in (ROOT / "src").iterdir() if path.is_dir()]
    assert not [name for name in folders if f"`{name}`" not in table]


def test_links_exist():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_site():
    """Every page is in the site's list, and has one of its own there."""
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    pages = [str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")]
    assert sorted(listed) == sorted([*pages, "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "third_party/README.md"])


def test_length():
    assert README.count("\n") < 150


def test_columns(ks):
    """docs/results.md lists every column, in order."""
    table = (ROOT / "docs/results.md").read_text(encoding="utf-8").split("## Samples and launches")[0]
    documented = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]
    documented.remove("NormalizationValue")  # only with a baseline
    documented.remove("StopReason")  # only where runs are found out
    documented.remove("ThermalWait")  # only with a thermal guard
    columns = list(ks.rows("-p", "n=1", "--runs", "1", "--", "true")[0])
    columns.remove("n")
    assert columns == documented
