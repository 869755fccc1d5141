"""The shared library in a host with a locale of its own: case C21."""

import ctypes
import locale
import os
import subprocess

import pytest

LIBRARY = os.environ["KERNSIGHT_LIBRARY"]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("native", ctypes.c_int32), ("origin", ctypes.c_char * 16),
                ("message", ctypes.c_char * 488)]


@pytest.fixture
def german(tmp_path, monkeypatch):
    """A German locale made for this test, set for the whole process."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"],
                          capture_output=True)
    if not (tmp_path / "de_DE.UTF-8/LC_NUMERIC").exists():
        pytest.skip(f"no German locale can be made here: {made.stderr.decode()}")
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    yield
    locale.setlocale(locale.LC_ALL, "C")


def measure(folder, name):
    """A sweep with numbers of all kinds that are known; its CSV and JSON."""
    ks = ctypes.CDLL(LIBRARY)
    error = Error()
    err = ctypes.byref(error)
    plan, results = ctypes.c_void_p(), ctypes.c_void_p()
    body_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    token = (ctypes.c_uint64 * 2)()

    @body_type
    def body(call, user, inner):
        ks.ks_annotate_begin(b"a", ctypes.byref(token), None)

        class Token(ctypes.Structure):
            _fields_ = [("run", ctypes.c_uint64), ("visit", ctypes.c_void_p)]

        ks.ks_annotate_end.argtypes = [Token, ctypes.c_void_p]
        ks.ks_annotate_end(Token(token[0], token[1]), None)
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                      ctypes.c_void_p)
    def derived(derivation, call, user, inner):
        ks.ks_call_f64.restype = ctypes.c_double
        ks.ks_call_f64.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        ks.ks_derivation_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double,
                                         ctypes.c_char_p, ctypes.c_void_p]
        return ks.ks_derivation_set(derivation, None, ks.ks_call_f64(call, b"x") / 3, b"x", inner)

    ks.ks_plan_new(ctypes.byref(plan), err)
    ks.ks_plan_axis_spec(plan, b"x=0.5,1234567.25,2.5e-7", err)
    ks.ks_plan_derive(plan, b"third", derived, None, err)
    ks.ks_run(plan, body, None, ctypes.byref(results), err)
    ks.ks_results_write_csv(results, str(folder / f"{name}.csv").encode(), err)
    ks.ks_results_write_json(results, str(folder / f"{name}.json").encode(), err)
    ks.ks_results_free(results)
    ks.ks_plan_free(plan)
    assert error.code == 0, error.message
    lines = (folder / f"{name}.csv").read_text().splitlines()
    return [line for line in lines if ",third," in line]


@pytest.mark.skipif(os.environ.get("KT_SANITIZED") == "ON", reason="the host has no sanitizer")
def test_decimal_commas_change_no_byte(tmp_path, german):
    assert locale.localeconv()["decimal_point"] == ","
    theirs = measure(tmp_path, "german")
    assert locale.setlocale(locale.LC_ALL) == "de_DE.UTF-8"
    assert f"{2.5:n}" == "2,5"
    locale.setlocale(locale.LC_ALL, "C")
    ours = measure(tmp_path, "c")
    assert theirs == ours
    assert theirs[0].startswith("a,third,0.5,0.16666666666666666,")
    import json
    assert json.loads((tmp_path / "german.json").read_text())["rows"][-1]["AvgValue"] == 2.5e-7 / 3
