"""Programs that import nsight run with kernsight."""

import subprocess
import sys

import kernsight

SCRIPT = """
import sys
import nsight
from nsight.utils import VerbosityLevel, is_scalar
import nsight.collection.core, nsight.collection.ncu, nsight.exceptions, nsight.info_collector, nsight.tools_manager

@nsight.analyze.kernel(configs=[(8,)], runs=2, verbosity=VerbosityLevel.SILENT)
def work(n):
    with nsight.annotate("work"):
        pass

results = work()
assert isinstance(results, nsight.collection.core.ProfileResults)
assert nsight.collection.ncu.injection_load_error is None
print(nsight.__name__, list(results.to_dataframe().NumRuns), sys.argv[1:], __name__)
"""


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, **options)


def test_a_script_that_imports_nsight_runs_unchanged(tmp_path):
    (tmp_path / "helper.py").write_text("VALUE = 3\n", encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "import helper\nprint(helper.VALUE)\n", encoding="utf-8")
    done = run("-m", "kernsight.nsight", str(script), "a", "--b", check=True)
    assert done.stdout == "kernsight [2] ['a', '--b'] __main__\n3\n" and done.stderr == ""


def test_the_real_one_is_not_replaced_behind_its_users_back(tmp_path):
    (tmp_path / "nsight.py").write_text("", encoding="utf-8")
    done = run("-c", "import nsight, kernsight.as_nsight", cwd=tmp_path)
    assert done.returncode != 0 and "nsight is loaded already, from" in done.stderr
    done = run("-c", "import kernsight.as_nsight, nsight; print(nsight.__name__)", cwd=tmp_path, check=True)
    assert done.stdout == "kernsight\n"


def test_without_a_script_it_says_how():
    done = run("-m", "kernsight.nsight")
    assert done.returncode == 2 and "script.py" in done.stdout


def test_all_public_names_are_there():
    assert {"CollectionScope", "InfoCollector", "Tool", "VerbosityLevel", "activate", "analyze", "annotate", "deactivate",
            "experimental", "get_active_tool"} <= set(kernsight.__all__)
    for name in (*kernsight.__all__, "row_panel", "col_panel", "__version__"):
        assert hasattr(kernsight, name)


def test_tools_are_switched_at_will(monkeypatch):
    import pytest

    monkeypatch.delenv("KERNSIGHT_TOOL")
    assert kernsight.get_active_tool() is kernsight.Tool.NCU
    kernsight.activate(kernsight.Tool.CUPTI)
    assert kernsight.get_active_tool() is kernsight.Tool.CUPTI
    kernsight.deactivate()
    assert kernsight.get_active_tool() is None
    kernsight.activate(kernsight.Tool.NCU)
    with pytest.raises(ValueError, match="Tool.NCU, Tool.CUPTI"):
        kernsight.activate("ncu")
    monkeypatch.setenv("KERNSIGHT_TOOL", "gpu")
    with pytest.raises(ValueError, match="ncu, cupti, cpu"):
        kernsight.get_active_tool()
