"""`compile: false`, `profiler: false`, `graphs: false` and `distributed: false` leave no trace in a tree; without the keys all are there."""

import pathlib
import re

import pytest
from trees import files

SPEC = "backend: {name: mybackend}\nprofile: full\n"
TRACE = re.compile(r"_inductor\b|torch\.compile\b|bind_compile|_launch_compiled")


def rendered(openreg_gen, where: pathlib.Path, spec: str) -> dict[str, pathlib.Path]:
    (where / "spec.yaml").write_text(spec)
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=where)
    found = {name: path for name, path in files(where / "tree").items() if not name.startswith(".openreg-gen/")}
    found.pop("torch_mybackend/_absent.py", None)  # the one table of what is not there
    return found


def left_out(openreg_gen, tmp_path, with_it, key: str):
    """A tree without a feature: its files, the missing ones, and those that differ."""
    (tmp_path / "off").mkdir()
    without = rendered(openreg_gen, tmp_path / "off", f"{SPEC}{key}: false\n")
    assert not set(without) - set(with_it)
    changed = {name for name in without if with_it[name].read_bytes() != without[name].read_bytes()}
    return without, set(with_it) - set(without), changed - {"spec.yaml", "mybackend.yaml"}


@pytest.fixture
def with_it(openreg_gen, tmp_path):
    (tmp_path / "on").mkdir()
    return rendered(openreg_gen, tmp_path / "on", SPEC)


def test_it_is_on_by_default(with_it):
    assert "torch_mybackend/_inductor/scheduling.py" in with_it
    assert "docs/compile.md" in with_it
    assert "_inductor.register()" in with_it["torch_mybackend/_load.py"].read_text()


def test_off_leaves_no_trace(openreg_gen, tmp_path, with_it):
    without, gone, changed = left_out(openreg_gen, tmp_path, with_it, "compile")
    assert {name for name in gone if not re.search(r"compil|_inductor/|networks|dynamo", name)} == set()
    assert "README.md" in changed
    refusing = {"tests/test_module.py"}  # it looks at what is said then
    assert {name for name in changed if TRACE.search(without[name].read_text())} == refusing
    assert "Scheduling" not in with_it["torch_mybackend/backend/__init__.py"].read_text()


def test_without_the_profiler(openreg_gen, tmp_path, with_it):
    without, gone, changed = left_out(openreg_gen, tmp_path, with_it, "profiler")
    assert {name for name in gone if "rofiler" not in name} == set()
    assert "csrc/profiler/KinetoProfiler.cpp" in gone and "tests/test_profiler.py" in gone
    assert changed == {
        "csrc/CMakeLists.txt",
        "csrc/host/alias/Queue.h",
        "tests/cpp/soak_test.cpp",
        "tests/test_graphed_work.py",
        "README.md",
        "torch_mybackend/backend/__init__.py",  # asks the table of what is absent
    }
    for name in changed:
        assert "rofiler" not in without[name].read_text()


GRAPHS = re.compile(
    r"Capturing\.h|_stream_capturing\(|capture_of\(|graphs/|bind_graphs|_graph_pool_handle|captured_draw|GraphImplInterface"
)


def test_without_graphs(openreg_gen, tmp_path, with_it):
    without, gone, changed = left_out(openreg_gen, tmp_path, with_it, "graphs")
    assert {name for name in gone if not re.search(r"[gG]raph|[cC]aptur", name)} == set()
    assert {"csrc/graphs/Graph.cpp", "csrc/host/alias/Captured.cpp", "tests/test_graphs.py"} <= gone
    assert "README.md" in changed and "csrc/host/alias/Queue.h" in changed
    found = [name for name in changed if GRAPHS.search(without[name].read_text())]
    assert found == ["torch_mybackend/csrc/Module.cpp"]  # torch.accelerator.Graph names the component that is absent


def test_without_distributed(openreg_gen, tmp_path, with_it):
    without, gone, changed = left_out(openreg_gen, tmp_path, with_it, "distributed")
    assert {name for name in gone if "distributed" not in name and "ForeignStream" not in name} == set()
    assert "csrc/distributed/ProcessGroup.cpp" in gone and "docs/distributed.md" in gone
    assert "README.md" in changed
    for name in changed:
        text = without[name].read_text().replace("USE_DISTRIBUTED", "")  # PyTorch's own flag
        assert "distributed" not in text.lower(), name


def test_its_backend_has_a_name(openreg_gen, tmp_path, with_it):
    assert 'BACKEND = "mybackendccl"' in with_it["torch_mybackend/_distributed.py"].read_text()
    (tmp_path / "named").mkdir()
    named = rendered(openreg_gen, tmp_path / "named", SPEC + "distributed: {backend: myccl}\n")
    assert 'BACKEND = "myccl"' in named["torch_mybackend/_distributed.py"].read_text()
