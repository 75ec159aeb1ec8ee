"""The wheel of the command: it fits any Linux of its name, and brings all that it needs but Python."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def interpreters():
    """This Python, and each other one of the machine that the command supports."""
    found = {f"3.{sys.version_info.minor}": sys.executable}
    for minor in range(10, 16):
        built = sorted(pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        for candidate in (shutil.which(f"python3.{minor}"), *built):
            if (
                candidate
                and subprocess.run([candidate, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
            ):
                found.setdefault(f"3.{minor}", candidate)
    return found


PYTHONS = interpreters()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    where = tmp_path_factory.mktemp("package")
    checkout = where / "checkout"
    # What git would hand out, with what is not yet committed: build folders of the work tree stay out.
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            out = checkout / name
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes((ROOT / name).read_bytes())
    # Compiled as scripts/lib.sh compiles the command, from a folder laid out alike: ccache then has the objects.
    env = os.environ | {
        "CCACHE_BASEDIR": str(checkout),
        "CCACHE_NOHASHDIR": "1",
        "SKBUILD_BUILD_DIR": "build",
        "SKBUILD_CMAKE_DEFINE": "OPENREG_GEN_WERROR=ON",
        "CXX": "c++",
    }
    script = ["bash", checkout / "scripts/wheel.sh", where / "dist"]
    made = subprocess.run(script, check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
    shutil.rmtree(checkout)  # the wheel must not need it
    return pathlib.Path(made.strip())


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    made = {}

    def install(version):
        if version not in made:
            made[version] = tmp_path_factory.mktemp("installed") / "venv"
            subprocess.run([PYTHONS[version], "-m", "venv", made[version]], check=True)
            pip = [made[version] / "bin/pip", "install", "-q", "--disable-pip-version-check", wheel]
            # No compiler, no CMake: an installation needs neither.
            subprocess.run(pip, check=True, env=os.environ | {"PATH": f"{made[version]}/bin"})
        return made[version]

    return install


@pytest.fixture
def prefix(installed):
    return installed(next(iter(PYTHONS)))


@pytest.fixture
def run(tmp_path):
    def run(prefix, *argv, **kwargs):
        # Neither the checkout nor the environment of the tests nor the machine's programs may help.
        env = {"PATH": f"{prefix}/bin", "HOME": str(tmp_path)}
        return subprocess.run(
            [prefix / "bin/openreg-gen", *argv], cwd=tmp_path, env=env, text=True, capture_output=True, **kwargs
        )

    return run


def torch_folder():
    site = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.__path__[0])"],
        check=True,
        capture_output=True,
        text=True,
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    return site.stdout.strip()


def test_the_wheels_name_says_where_it_runs(wheel):
    name = re.fullmatch(r"openreg_gen-[0-9.]+-py3-none-manylinux_2_(\d+)_\w+\.whl", wheel.name)
    assert name and int(name[1]) <= 34


def test_the_binary_needs_glibc_alone(prefix):
    ldd = subprocess.run(["ldd", prefix / "bin/openreg-gen"], check=True, capture_output=True, text=True).stdout
    needed = {line.split()[0].rsplit("/", 1)[-1] for line in ldd.splitlines()}
    glibc = re.compile(r"linux-vdso\.so\.1|ld-linux-[\w-]+\.so\.\d|lib(c|m|pthread|dl|rt)\.so\.\d")
    assert needed and [name for name in needed if not glibc.fullmatch(name)] == []


def test_version(run, prefix):
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version[1] in run(prefix, "--version", check=True).stdout


@pytest.mark.parametrize("version", PYTHONS)
def test_renders_a_tree(run, installed, tmp_path, version):
    prefix = installed(version)
    run(prefix, "new", "mybackend", "--torch", torch_folder(), check=True)
    assert (tmp_path / "torch_mybackend/third_party/mybackend/include/mybackend.h").exists()
    again = run(prefix, "generate", "-C", "torch_mybackend", "--check", "--torch", torch_folder())
    assert again.returncode == 0, again.stdout + again.stderr


def test_no_pytorch_is_an_environment_error(run, prefix):
    outcome = run(prefix, "new", "mybackend")
    assert outcome.returncode == 3
    assert "pip install 'torch>=2.13,<" in outcome.stderr


def test_the_tools_of_the_workbench_are_the_same_in_both_places(run, wheel, prefix, tmp_path):
    """`python -m openreg_gen.record` is the wheel's package, `openreg-gen record` its copy in share/."""
    (site,) = prefix.glob("lib/python3.*/site-packages")
    (copy,) = prefix.glob("share/openreg-gen/workbench")

    def files(folder):
        found = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return {path: text for path, text in found.items() if "__pycache__" not in path.parts}

    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "__pycache__" in name]  # pip makes them
    assert files(copy / "openreg_gen") == files(site / "openreg_gen")
    torch = pathlib.Path(torch_folder()).parent
    (site / "torch_of_the_tests.pth").write_text(f"{torch}\n")
    try:
        env = {"PATH": f"{prefix}/bin", "HOME": str(tmp_path), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        words = ["--device", "cpu", "nothing.py"]
        python = [prefix / "bin/python", "-m", "openreg_gen.record"]
        module = subprocess.run([*python, *words], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=300)
        shown = subprocess.run([*python, "--help"], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=300)
        command = run(prefix, "record", *words, timeout=300)
    finally:
        (site / "torch_of_the_tests.pth").unlink()
    assert module.returncode == command.returncode == 2 and "no such script: nothing.py" in command.stderr
    assert module.stderr == command.stderr
    assert shown.stdout.startswith("usage: python -m openreg_gen.record ")

    def options(text):
        rows = [line.strip().split("  ")[0] for line in text.splitlines() if line.startswith("  -")]
        return {name for row in rows for name in re.findall(r"--[\w-]+", row)}

    listed = [options(shown.stdout), options(run(prefix, "record", "--help").stdout)]
    assert listed[0] == listed[1] and "--shapes" in listed[0]


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_another_system_is_refused_before_a_compiler_is_looked_for(tmp_path, system):
    command = [
        "cmake",
        "-S",
        ROOT,
        "-B",
        tmp_path,
        f"-DCMAKE_SYSTEM_NAME={system}",
        "-DCMAKE_CXX_COMPILER=/nonexistent",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode != 0
    assert f"openreg-gen is for Linux, and this is {system}" in " ".join(done.stdout.split())
    assert "/nonexistent" not in done.stdout
