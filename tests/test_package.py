"""`pip install .` in a fresh virtual environment puts a working openreg-gen on PATH, with all that it needs."""

import os
import pathlib
import re
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
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
    prefix = where / "venv"
    venv.create(prefix, with_pip=True)
    # Compiled as scripts/lib.sh compiles the command, from a folder laid out alike: ccache then has the objects.
    env = os.environ | {
        "CCACHE_BASEDIR": str(checkout),
        "CCACHE_NOHASHDIR": "1",
        "SKBUILD_BUILD_DIR": "build",
        "CXX": "c++",
    }
    pip = [prefix / "bin/pip", "install", "-q", "--disable-pip-version-check", checkout]
    subprocess.run([*pip, "--config-settings=cmake.define.OPENREG_GEN_WERROR=ON"], check=True, env=env)
    return prefix


@pytest.fixture
def run(prefix, tmp_path):
    def run(*argv, **kwargs):
        # Neither the checkout nor the environment of the tests may help.
        env = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
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


def test_version(run):
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version[1] in run("--version", check=True).stdout


def test_renders_a_tree(run, tmp_path):
    run("new", "mybackend", "--torch", torch_folder(), check=True)
    assert (tmp_path / "torch_mybackend/third_party/mybackend/include/mybackend.h").exists()
    again = run("generate", "-C", "torch_mybackend", "--check", "--torch", torch_folder())
    assert again.returncode == 0, again.stdout + again.stderr


def test_no_pytorch_is_an_environment_error(run):
    outcome = run("new", "mybackend")
    assert outcome.returncode == 3
    assert "pip install 'torch>=2.13,<" in outcome.stderr


def test_needs_no_shared_yaml_cpp_or_fmt(prefix):
    needed = subprocess.run(["ldd", prefix / "bin/openreg-gen"], check=True, capture_output=True, text=True).stdout
    assert "yaml" not in needed and "fmt" not in needed
