"""scripts/check_gil.py, which looks for calls of Python's API without Python's lock."""

import subprocess
import sys

import pytest
from trees import ROOT

RELEASE = "pybind11::gil_scoped_release no_gil;"


@pytest.mark.parametrize(
    "body, lines",
    [
        (f"{RELEASE}\n  run();\n  Py_RETURN_NONE;", [4]),
        (f"const {RELEASE}\n  if (x) {{\n    Py_INCREF(y);\n  }}\n  return PyLong_FromLong(1);", [4, 6]),
        (f"{{\n    {RELEASE}\n    run();\n  }}\n  Py_RETURN_NONE;", []),
        (f"Py_INCREF(x);\n  {RELEASE}\n  run();  // Py_RETURN_NONE", []),
        (f'{RELEASE}\n  run("Py_RETURN_NONE");', []),
        (f"{RELEASE}\n  {{\n    const py::gil_scoped_acquire gil;\n    Py_INCREF(x);\n  }}\n  Py_DECREF(x);", [7]),
        ("f(pybind11::call_guard<pybind11::gil_scoped_release>());\n  Py_RETURN_NONE;", []),
    ],
)
def test_calls_without_the_lock_are_found(body, lines, tmp_path):
    (tmp_path / "file.cpp").write_text(f"PyObject* f() {{\n  {body}\n}}\n\nPyObject* g() {{ Py_RETURN_NONE; }}\n")
    command = [sys.executable, str(ROOT / "scripts" / "check_gil.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert [int(line.split(":")[1]) for line in done.stderr.splitlines()] == lines, done.stderr
    assert done.returncode == (1 if lines else 0)
