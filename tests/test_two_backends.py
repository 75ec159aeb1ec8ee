"""Two backends in one environment, which PyTorch has no room for in one process: built, not installed; the environment variable
PYTHONPATH puts them into an order. And a tree that was rendered again, but not built."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from elftools.elf.elffile import ELFFile
from trees import COMMAND

NAMES = ("mybackend", "other")
ORDERS = pytest.mark.parametrize(("first", "second"), [NAMES, NAMES[::-1]])
pytestmark = [pytest.mark.timeout(3600), pytest.mark.nightly]
# What the linker defines in each library.
OF_THE_LINKER = {"_init", "_fini", "_edata", "_end", "__bss_start"}
USE = "import torch; print(torch.ones(2, device=torch.accelerator.current_accelerator()))"


def run(*command, cwd, code=0, **environment):
    env = {name: value for name, value in os.environ.items() if name != "TORCH_DEVICE_BACKEND"}
    env |= {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environment}
    env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{env['PATH']}"
    if shutil.which("ccache"):
        env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
        env["CCACHE_BASEDIR"] = str(cwd)
    done = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True, timeout=1500)
    assert done.returncode == code, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    return done


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for name in NAMES:
        tree = folder / name
        run(COMMAND, "new", name, "--profile", "minimal", "--out", tree, cwd=folder)
        run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
            f"-D{name.upper()}_WERROR=ON", cwd=tree)  # fmt: skip
        run("cmake", "--build", "build", cwd=tree)
        run(sys.executable, "setup.py", "-q", "egg_info", cwd=tree)  # PyTorch finds its entry point
    return folder


@pytest.fixture
def python(trees, tmp_path):
    """Runs a script where both are, found in this order; Autoload is on."""

    def of(order, script, code=0, autoload="1", **environment):
        path = os.pathsep.join(str(trees / name) for name in order)
        environment |= {"PYTHONPATH": path, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
        return run(sys.executable, "-c", script, cwd=tmp_path, code=code, **environment)

    return of


def refusal(loaded, refused):
    return f"torch_{refused} was not loaded: torch_{loaded} has registered device '{loaded}'"


def test_no_library_is_taken_for_the_others(trees):
    """The loader knows libraries by their sonames, and all symbols that a process has by their names: one of each."""
    names, symbols = [], []
    for name in NAMES:
        names.append(set())
        symbols.append(set())
        for path in (trees / name / f"torch_{name}/lib").glob("*.so"):
            with path.open("rb") as file:
                elf = ELFFile(file)
                sonames = {tag.soname for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_SONAME")}
                assert sonames == {path.name}
                names[-1] |= sonames
                # Weak ones are of templates and inline functions: of PyTorch and of the standard library, the same for both.
                symbols[-1] |= {
                    symbol.name
                    for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
                    if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
                }
    assert len(names[0]) == len(names[1]) == 3
    assert not names[0] & names[1]
    assert len(symbols[0]) > 50
    assert symbols[0] & symbols[1] <= OF_THE_LINKER


@ORDERS
def test_import_torch_loads_one_and_says_how_to_choose(python, first, second):
    done = python((first, second), USE)
    assert f"device='{first}:0'" in done.stdout
    assert done.stderr.count("Warning: ") == 1
    assert refusal(first, second) in done.stderr
    assert f"set TORCH_DEVICE_BACKEND to {second} or {first}" in done.stderr


@ORDERS
def test_a_choice_is_followed_in_silence(python, first, second):
    done = python((first, second), USE, TORCH_DEVICE_BACKEND=second)
    assert (f"device='{second}:0'" in done.stdout, done.stderr) == (True, "")
    # A package that is imported before torch is the choice, of child processes, too.
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    script = f"import sys; sys.argv.append({USE!r}); import torch_{second}; {USE}; {child}"
    done = python((first, second), script)
    assert (done.stdout.count(f"device='{second}:0'"), done.stderr) == (2, "")


def test_another_choice_than_what_is_installed_does_not_count_and_is_said(python):
    done = python(("other",), USE, TORCH_DEVICE_BACKEND="elsewhere")
    assert "device='other:0'" in done.stdout
    assert "TORCH_DEVICE_BACKEND=elsewhere is not installed, so torch_other was loaded; there: other" in done.stderr


@ORDERS
@pytest.mark.parametrize("autoload", "01")
def test_the_second_import_is_refused(python, first, second, autoload):
    """Again, too: no half of it stays behind."""
    script = f"""
import torch_{first}
for _ in range(2):
    try:
        import torch_{second}
    except ImportError as error:
        print(error)
"""
    done = python((first, second), script, autoload=autoload)
    assert (done.stdout.count(refusal(first, second)), done.stderr) == (2, "")
    # What Autoload left out is refused in the same words, rather than found as an empty package.
    done = python((first, second), f"import torch, torch_{first}, torch_{second}", code=1, autoload=autoload)
    assert "ImportError: " + refusal(first, second) in done.stderr


@pytest.fixture
def copy(trees, tmp_path):
    return shutil.copytree(trees / "other", tmp_path / "copy", ignore=shutil.ignore_patterns("build"))


def test_a_tree_that_was_rendered_again_is_to_be_built(copy):
    def load(code=0):
        return run(sys.executable, "-c", f"import torch_other; {USE}", cwd=copy, code=code).stderr

    def rendered(*words):
        run(COMMAND, *words, "-C", copy, cwd=copy)

    said = f"torch_other was rendered after it was built; run: cmake --build {copy}/build"
    assert load() == ""
    spec = copy / "other.yaml"
    spec.write_text(spec.read_text().replace("{name: other}", "{name: other, description: Another text}"))
    rendered("generate")
    assert "Another text" in (copy / "README.md").read_text()
    assert load() == ""  # no C++ depends on it
    rendered("add", "relu", "--strategy", "native")
    assert f"UserWarning: {said}" in load()  # the libraries still fit Python's files
    rendered("undo")
    assert load() == ""
    rendered("add", "component", "fallback_report")
    assert load(1).splitlines()[-1] == f"ImportError: {said}"
