"""Trees for a vendor's device, in this Python's environment but not installed into it, with the ports in external/."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATOR = os.environ.get("OPENREG_GEN", str(ROOT / "build/openreg-gen"))
BUILT = ROOT / "tests/built"
PORT = "third_party/mybackend/src/port.cpp"


def run(*command, cwd, check=True, **environment):
    env = {**os.environ, "COLUMNS": "200", "PYTHONPATH": str(cwd), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environment}
    # The command looks for PyTorch where the active environment would have it: beside this Python.
    env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{env['PATH']}"
    if shutil.which("ccache"):
        env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
        env.setdefault("CCACHE_BASEDIR", str(cwd))  # shares what it can with the tree of `new mybackend`
    result = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True, timeout=3600)
    if check:
        assert result.returncode == 0, f"{command}\n{result.stdout[-8000:]}\n{result.stderr[-8000:]}"
    return result


def ladder(tree, **environment):
    """Outcomes of the ladder's tests, by file and name, and pytest's output."""
    pytest_ = (sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider")
    files = sorted(f"tests/{path.name}" for path in (tree / "tests").glob("test_bringup_*.py"))
    result = run(*pytest_, *files, cwd=tree, check=False, **environment)
    outcomes = dict(re.findall(r"^tests/(\S.*?) (PASSED|FAILED|ERROR|SKIPPED)\b", result.stdout, re.MULTILINE))
    assert outcomes, result.stdout + result.stderr
    return outcomes, result.stdout


def new_tree(folder, *options, port=None, components=(), device="external", files=(), cmake=""):
    """`files`: pairs of a source and its place in the tree; `cmake`: lines for the build of the device library."""
    tree = folder / "torch_mybackend"
    run(GENERATOR, "new", "mybackend", "--device", device, *options, "--out", str(tree), cwd=tree.parent)
    if components:
        run(GENERATOR, "add", "component", *components, cwd=tree)
    if port is not None:
        shutil.copy(port, tree / PORT)
    for source, place in files:
        shutil.copy(source, tree / place)
    with (tree / "third_party/mybackend/CMakeLists.txt").open("a") as build:
        build.write(cmake)
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
        "-DMYBACKEND_WERROR=ON", "-DMYBACKEND_UNITY_BUILD=ON", cwd=tree)  # fmt: skip
    run("cmake", "--build", "build", cwd=tree)
    return tree


def on_the_card(tree, *files):
    pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    result = run(*pytest_, *files, cwd=tree, check=False, TORCH_DEVICE_BACKEND_AUTOLOAD="1", TREE=str(tree))
    assert result.returncode == 0, result.stdout[-8000:]
