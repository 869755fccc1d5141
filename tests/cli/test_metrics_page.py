"""docs/metrics.md says what the program says."""

import json
from pathlib import Path

import pytest

from test_chips import chip, needs_cupti  # noqa: F401, the fixture

PAGE = (Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text()


def rows(heading):
    """Cells of the tables below a heading."""
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture
def listed(ks):
    return {m["Metric"]: m for m in json.loads(ks("metrics", "--json").stdout)}


@pytest.mark.parametrize("heading, belongs", [
    ("Processor and programs", lambda m: m["Metric"].startswith(("cpu__", "program__"))),
    ("Kernels, traced", lambda m: m["Metric"].startswith("kernel__")),
])
def test_metrics_are_documented(listed, heading, belongs):
    documented = {name: (unit or None, kind, text) for name, unit, kind, text in rows(heading)}
    for metric in filter(belongs, listed.values()):
        assert documented[metric["Metric"]] == (metric["Unit"], metric["Kind"], metric["Description"])


@pytest.mark.parametrize("heading, belongs", [
    ("Launches", lambda m: m["Kind"] == "property" and not m["Metric"].startswith("device__")),
    ("Devices", lambda m: m["Metric"].startswith("device__attribute_")),
])
def test_properties_are_documented(listed, heading, belongs):
    documented = {name: (unit or None, text) for name, unit, text in rows(heading)}
    told = {m["Metric"]: (m["Unit"], m["Description"]) for m in filter(belongs, listed.values())}
    assert documented == told and len(told) > 40


def test_sets_are_documented(ks):
    sets = json.loads(ks("metrics", "--sets", "--json").stdout)
    assert rows("Sets") == [[s["Set"], s["Description"]] for s in sets]


@needs_cupti
def test_the_rules_are_of_metrics_that_there_are(chip):  # noqa: F811
    golden = [row for row in rows("How several launches become one value") if len(row) == 5]
    assert len(golden) >= 40
    every = {m["Metric"]: m for m in json.loads(chip("gh100", "--json").stdout)}
    for name, kind, _, weight, _ in golden:
        for full in filter(None, (name, weight)):
            base, sub = full.split(".", 1)
            assert sub in every[base]["Submetrics"].split(), full
        full = json.loads(chip("gh100", name.replace(".sum", ".s?m"), "--json").stdout)
        assert {m["Metric"]: m["Kind"] for m in full}[name] == kind
