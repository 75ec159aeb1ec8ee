"""Adopt: the plainest C++ backend (clients/plain_cpp), and the texts that plain backends need. Most tests need no build."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from clients import build

sys.path.insert(0, str(build.ROOT / "generator/workbench"))

from openreg_gen.adopt import place, port, scan  # noqa: E402
from openreg_gen.adopt.helpers import Helpers  # noqa: E402
from openreg_gen.adopt.registrations import Unclear, read_sources  # noqa: E402
from openreg_gen.adopt.spec_text import grouped  # noqa: E402

PLAIN = build.FOLDER / "plain_cpp"
MINUTES = 1800


def of_text(folder, text):
    (folder / "backend.cpp").write_text(text)
    return read_sources([folder])


# --- C++ as text


@pytest.mark.parametrize(
    "text", ["f(1'000, g(2'000))", "f(0x1'F, g(.5'0))", "f(1'000'000, g(')'))", "f(u8')', g(9'9))"]
)
def test_quotes_in_numbers_open_no_character(text):
    assert scan.closing(scan.masked(text), 1) == len(text) - 1
    assert len(scan.split_arguments(text[2:-1])) == 2


# --- a library without Python


@pytest.fixture
def helpers(tmp_path):
    pytest.importorskip("tree_sitter_cpp")

    def made(text):
        found = of_text(tmp_path, text)
        return Helpers("plain", found), found.sources[0]

    return made


def test_includes_that_need_python_are_replaced(helpers):
    made, source = helpers(
        "#include <torch/extension.h>\n#include <torch/csrc/Device.h>\n#include <torch/csrc/Export.h>\n"
        "#include <torch/csrc/utils/pybind.h>\n#include <pybind11/stl.h>\n#include <Python.h>\n#include <vector>\n"
        "static void f(torch::Library& m) {}\n"
    )
    assert made._own_includes(source) == [
        "<ATen/ATen.h>",
        "<torch/library.h>",
        "<torch/csrc/Export.h>",
        "<vector>",
    ]


@pytest.mark.parametrize(
    "text", ["torch::Tensor f();", "using namespace torch;", "struct F : torch::autograd::Function<F> {};"]
)
def test_names_of_torch_keep_their_header(helpers, text):
    made, source = helpers(f'#include "torch/extension.h"\n{text}\n')
    assert made._own_includes(source)[-1] == "<torch/all.h>"


def test_moved_code_that_uses_python_is_unclear(helpers):
    made, source = helpers("int f() { return PyList_Size(nullptr); }\nint g() { return 1; /* py::list */ }\n")
    made.need("f(); g();", source.file)
    assert [(row.what, row.line) for row in made.unclear] == [("f", 1)]
    assert "Python (PyList_Size)" in made.unclear[0].why


# --- a guard without streams and events

GUARD = """
struct Base : c10::impl::DeviceGuardImplInterface {
  void synchronizeStream(const c10::Stream& stream) const override { wait(stream); }
};
struct Guard final : %s {
  // void synchronizeDevice(c10::DeviceIndex) const override {}
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    TORCH_CHECK(false, "no events");
  }
  bool queryEvent(void* event) const override;
  void block(void*, const c10::Stream&) const override {}
};
bool Guard::queryEvent(void* event) const { return done(event); }
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);
"""


def lacking(folder, bases):
    found = of_text(folder, GUARD % bases)
    items = {item.name: item for source in found.sources for item in source.items if item.kind == "class"}
    return port.lacking(found, items["Guard"])


def test_functions_that_a_guard_lacks(tmp_path):
    pytest.importorskip("tree_sitter_cpp")
    missing = lacking(tmp_path, "Base")
    assert set(missing) == set(port.GUARD_FUNCTIONS) - {"synchronizeStream", "queryEvent", "block"}
    assert missing["record"] == "your guard's record() only raises an error"
    assert missing["synchronizeDevice"] == "your guard doesn't override synchronizeDevice()"
    torchs = lacking(tmp_path, "c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>")
    assert set(torchs) - set(missing) == {"synchronizeStream"}
    assert lacking(tmp_path, "vendor::Guard") == {}  # not in the sources: it may have them all


def test_each_function_that_is_missing_is_a_warning():
    pytest.importorskip("tree_sitter_cpp")
    found = read_sources([PLAIN])
    guard = next(item for source in found.sources for item in source.items if item.name == "PlainGuard")
    rows = {row.what: row for row in port.missing_of_guard(found, guard)}
    assert set(rows) == set(port.GUARD_FUNCTIONS)
    assert "have to be synchronous" in rows["synchronizeDevice"].why
    assert "complete at once" in rows["record"].why and rows["record"].line == guard.line


# --- one sentence for what many operators have in common


def test_rows_that_say_the_same_are_one():
    many = [Unclear(f"op{n}", "no sources", "name them", "f.cpp", n) for n in range(4)]
    few = [Unclear(f"other{n}", "a lambda", "move it") for n in range(3)]
    assert [len(group) for group in grouped([few[0], *many, *few[1:]])] == [1, 4, 1, 1]


@pytest.fixture
def facts(tmp_path):
    """Of a backend with 40 kernels, without its sources."""
    file = tmp_path / "facts.json"
    byhand = build.FOLDER.parent / "byhand"
    file.write_text((byhand / "facts.json").read_text().replace("FOLDER", str(byhand)))
    return file


def test_without_sources_the_reason_is_said_once(facts, openreg_gen, tmp_path):
    words = ("new", "byhand", "--from", "byhand", "--facts", facts)
    report = openreg_gen(*words, "--dry-run", cwd=tmp_path).stdout
    assert report.count("no --sources were given") == 1
    assert (
        re.search(r"\d+ times: no --sources were given", report) and "hypot.out" in report.partition("no --sources")[2]
    )
    openreg_gen(*words, cwd=tmp_path)
    spec = (tmp_path / "torch_byhand/byhand.yaml").read_text()
    assert spec.count("no --sources were given") == 1


# --- all of the files, or none


@pytest.fixture
def half_way(tmp_path):
    """A tree, the files to write, and what the tree holds."""
    (tmp_path / "csrc").mkdir()
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / "csrc" / name).write_text(f"old {name}")
    files = {tmp_path / "csrc" / f"{name}.cpp": f"new {name}" for name in "abc"}
    files[tmp_path / "csrc/adopted/deep/d.h"] = "new d"

    def held():
        return {str(path.relative_to(tmp_path)): path.is_dir() or path.read_text() for path in tmp_path.rglob("*")}

    return files, held


@pytest.mark.parametrize("function", ["write_text", "replace"])
@pytest.mark.parametrize("fails", [1, 3, 4])
def test_a_write_that_fails_leaves_the_tree_as_it_was(half_way, monkeypatch, function, fails):
    files, held = half_way
    before, calls, real = held(), [], getattr(pathlib.Path, function)

    def call(path, *words, **options):
        calls.append(path)
        if len(calls) == fails:
            raise OSError(28, "No space left on device", str(path))
        return real(path, *words, **options)

    monkeypatch.setattr(pathlib.Path, function, call)
    with pytest.raises(OSError):
        place.write_all(files)
    assert held() == before


def test_all_files_are_written(half_way):
    files, held = half_way
    place.write_all(files)
    assert {path.read_text() for path in files} == set(files.values())
    assert sorted(held()) == [
        "csrc",
        *sorted(f"csrc/{name}" for name in ("a.cpp", "adopted", "adopted/deep", "adopted/deep/d.h", "b.cpp", "c.cpp")),
    ]


# --- to the end

# What the ladder needs of components, without those that only a standard tree has.
SMALL = "profile: minimal\ncomponents: {errors: true, memory: true, loops: true, host_alias: false}"


@pytest.mark.nightly
def test_the_plainest_backend_is_adopted_and_climbs_the_ladder(openreg_gen, tmp_path):
    """Read alive, rendered, built by pip. One rung per process, so that one that dies fails alone."""
    pytest.importorskip("tree_sitter_cpp")
    environment = {**os.environ, **build.environment("plain_cpp")}
    words = ("-m", "openreg_gen.adopt.read", "plain_cpp", "--json", tmp_path / "facts.json")
    subprocess.run([sys.executable, *words], check=True, env=environment, timeout=300)
    openreg_gen(
        *("new", "plain", "--from", "plain_cpp", "--facts", tmp_path / "facts.json", "--sources", PLAIN), cwd=tmp_path
    )
    tree = tmp_path / "torch_plain"
    spec = tree / "plain.yaml"
    spec.write_text(spec.read_text().replace("profile: standard", SMALL))
    openreg_gen("generate", cwd=tree)
    flags = "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DPLAIN_UNITY_BUILD=ON -DPLAIN_WERROR=ON"
    site = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--target", site, tree)
    subprocess.run(pip, check=True, env={**os.environ, "CMAKE_ARGS": flags}, timeout=2 * MINUTES)
    paths = {**os.environ, "PYTHONPATH": str(site), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    rungs = sorted(tree.glob("tests/test_bringup_*.py"))
    assert len(rungs) == 5
    for rung in rungs:
        ladder = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", rung)
        done = subprocess.run(ladder, check=False, env=paths, capture_output=True, text=True, timeout=600, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        # It has seven kernels and no fallback: rung 5 skips what needs others, and names them.
        wanted = r"\b[1-9]\d* passed" if "5_autograd" not in rung.name else r"\b[1-9]\d* (passed|skipped)"
        assert re.search(wanted, done.stdout), done.stdout
        for reason in re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", done.stdout, re.MULTILINE):
            wanted = ("needs two devices", "has no kernel for plain", "is left out: it is optional")
            assert any(words in reason for words in wanted), reason
    program = "import torch, torch_plain; x = torch.ones(3, device='plain'); print((x + x).cpu().tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, env=paths, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "[2.0, 2.0, 2.0]"
