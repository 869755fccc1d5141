"""What docs/python.md shows works."""

import re
from pathlib import Path


def test_the_example_runs(capsys):
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    names = {}
    exec(compile(example, "docs/python.md", "exec"), names)
    assert list(names["frame"].Annotation) == ["sum", "sum", "by rows", "by rows"]
    assert "by rows" in capsys.readouterr().out
