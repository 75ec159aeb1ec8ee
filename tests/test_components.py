"""Components: each off alone and on alone renders and leaves no trace; profiles; the verbs that bring them in and take
them out of living trees."""

import json
import re
import subprocess

import pytest
from trees import files

# What of a component would be found in a tree that has it not. Files are its own by templates.yaml; these are names.
TRACES = {
    "gemm": r"Gemm|native/gemm|Im2col|gemm\.(h|cpp)",
    "recurrent": r"Rnn\.cpp|test_recurrent",
    "virtual_memory": r"ExpandableSegment|expandable_sizes|MemAddressReserve|kUnmapped|virtual_memory|set_accessible",
    "pools": r"\b_?MemPool\b|PrivatePool|use_mem_pool|AllocateToPool|bind_pools|markCapture",
    "fallback_report": r"FallbackReport|FallbackScope|fallback_report|fallback_counts|bind_fallback",
    "caching": r"CachingAllocator\.cpp|DeviceCache",
    "pluggable": r"PluggableAllocator|_load_pluggable|change_current_allocator",
    "history": r"memory_snapshot|_record_memory_history|bind_memory_history",
    "ipc": r"_ipc_|bind_ipc|ipc_collect|runtime/Ipc",
    "amp": r"csrc/amp|amp\.dtypes|GradScaler",
    "serialization": r"BackendMeta|Serialization\.h",
    "compile": r"_inductor\b|bind_compile|_launch_compiled",
    "profiler": r"KinetoProfiler|(?<!torch/)csrc/profiler",
    "graphs": r"Capturing\.h|bind_graphs|csrc/graphs|GraphImplInterface",
    "distributed": r"_distributed, |bind_distributed|csrc/distributed|c10d|PyTorch_DISTRIBUTED",
    "extensions": r"cpp_extension\.|torch_mybackendConfig|\.share\*",
    "testing": r"\.testing import (checks|forms|spec|samples)|\.testing\.spec",
    "compare": r"_compare_always|CompareError",
    "record": r"_start_recording|OpRecorder|\.record script|RecordedOp",
    "sweep": r"testing[./]sweep",
    "upstream": r"testing\.upstream",
    "examples": r"there are more examples",
    "cpp_tests": r"tests/cpp|BUILD_TESTS",
    "runtime": r"host/(Memory|Tensors|Kernel|Launch)\.h|DeviceLoop|AllocatorStats|HostAllocator|\bdiagnose\b",
    "device": r"DebugFail|ISOLATION|MEMORY_DEBUG|VirtualMemory|GraphLaunch",
}


NAMES = list(TRACES)


@pytest.fixture(scope="module")
def needs(openreg_gen):
    """What each needs, as the command says."""
    listed = json.loads(openreg_gen("components", "--json", cwd="/").stdout)
    return {component["name"]: set(component["needs"]) for component in listed}


def dependents(name, needs):
    """Itself, and what can't be there without it."""
    out = {name}
    while more := {other for other in needs if needs[other] & out} - out:
        out |= more
    return out


def with_needs(name, needs):
    return {name}.union(*(with_needs(need, needs) for need in needs[name]))


def spec_of(profile, **components):
    rows = "".join(f"  {name}: {str(on).lower()}\n" for name, on in components.items())
    return f"backend: {{name: mybackend}}\nprofile: {profile}\n" + (f"components:\n{rows}" if rows else "")


@pytest.fixture(scope="module")
def render(openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp("components")

    def new(name, spec):
        (where / f"{name}.yaml").write_text(spec)
        openreg_gen("new", "mybackend", "--spec", f"{name}.yaml", "--out", name, cwd=where)
        return where / name

    return new


@pytest.fixture(scope="module")
def full(render):
    return render("full", spec_of("full"))


def texts(tree):
    kept = {name: path for name, path in files(tree).items() if not name.startswith(".openreg-gen/")}
    return {name: path.read_text() for name, path in kept.items() if name != "mybackend.yaml"}


def check(tree, absent):
    """Nothing names what is absent; includes and imports are of files that are there; formatted."""
    found = texts(tree)
    for name in absent:
        traces = [f for f, text in found.items() if re.search(TRACES[name], text)]
        assert traces == [], f"{name} is off, and named in {traces}"
    for path, text in found.items():
        if path.endswith((".cpp", ".h")) and not path.startswith("third_party"):
            for header in re.findall(r'^#include "((?:runtime|host|aten|graphs)/[^"]+)"', text, re.M):
                assert f"csrc/{header}" in found, f"{path} includes {header}"
    sources = [f for f in found if f.endswith((".cpp", ".h", ".c"))]
    for command in (
        ["ruff", "check", "-q", "."],
        ["ruff", "format", "--check", "-q", "."],
        ["clang-format", "--dry-run", "-Werror", *sources],
    ):
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[:2000]


def test_every_component_has_a_trace_to_look_for(needs):
    assert set(NAMES) == set(needs)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there_when_on(name, full):
    assert any(re.search(TRACES[name], text) for text in texts(full).values())


@pytest.mark.parametrize("name", NAMES)
def test_off_alone(name, needs, render):
    gone = dependents(name, needs)
    check(render(f"without_{name}", spec_of("full", **dict.fromkeys(sorted(gone), False))), gone)


@pytest.mark.parametrize("name", NAMES)
def test_on_alone(name, needs, render):
    here = with_needs(name, needs)
    check(render(f"with_{name}", spec_of("minimal", **dict.fromkeys(sorted(here), True))), set(NAMES) - here)


def test_minimal_is_small(render):
    found = texts(render("minimal", spec_of("minimal")))
    lines = {name: text.count("\n") for name, text in found.items()}
    assert len(found) <= 70
    assert sum(lines.values()) <= 6000
    assert sum(count for name, count in lines.items() if name.startswith(("csrc/", "torch_mybackend/"))) <= 2950


def test_profiles_grow(render, full):
    minimal, standard = (set(texts(render(f"profile_{each}", spec_of(each)))) for each in ("minimal", "standard"))
    assert len(minimal) < len(standard) < len(texts(full))
    assert standard < set(texts(full))


def test_readme_says_what_there_is(full, render):
    readme = (full / "README.md").read_text()
    for name in NAMES:
        assert f"| `{name}` | " in readme
    external = render("readme_external", spec_of("standard") + "device: {api: external}\n")
    for tree in (full, external, render("readme", spec_of("minimal"))):
        assert not re.search(r"@\w*:?\w*@", (tree / "README.md").read_text())
        section = (tree / "README.md").read_text().split("## Read it")[1].split("\n## ")[0]
        listed = re.findall(r"^\| `([^`]+)` \|", section, re.M)
        assert 8 <= len(listed) <= 12
        assert [path for path in listed if not (tree / path).is_file()] == []


def test_new_writes_the_profile(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "a", cwd=tmp_path)
    assert (tmp_path / "a/mybackend.yaml").read_text() == "backend: {name: mybackend}\nprofile: standard\n"
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--profile", "minimal", "--out", "b", cwd=tmp_path)
    assert (tmp_path / "b/mybackend.yaml").read_text() == "backend: {name: mybackend}\nprofile: minimal\n"
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", "c", cwd=tmp_path)
    assert set(texts(tmp_path / "b")) == set(texts(tmp_path / "c"))
    openreg_gen("new", "mybackend", "--out", "d", cwd=tmp_path)
    assert re.search(r"^profile: standard +#", (tmp_path / "d/mybackend.yaml").read_text(), re.M)


def test_a_spec_without_a_profile_keeps_everything(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\nprofile: full\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    before = texts(tmp_path / "tree")
    (tmp_path / "tree/mybackend.yaml").write_text("backend: {name: mybackend}\n")
    openreg_gen("generate", "-C", "tree", cwd=tmp_path)
    assert texts(tmp_path / "tree") == before


def test_add_and_remove(openreg_gen, tmp_path):
    """A component comes with what it needs, and goes without what the owner changed."""
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", "tree", cwd=tmp_path)
    tree = tmp_path / "tree"
    before = texts(tree)
    report = json.loads(openreg_gen("add", "component", "history", "-C", "tree", "--json", cwd=tmp_path).stdout)
    assert [each["component"] for each in report["added"]] == ["device", "runtime", "history"]
    assert (tree / "torch_mybackend/backend/memory_history.py").is_file()
    assert (tree / "third_party/mybackend/src/isolation.cpp").is_file()
    assert not (tree / "third_party/mybackend/src/memory.cpp").exists()
    openreg_gen("add", "component", "examples", "-C", "tree", cwd=tmp_path)
    edited = tree / "examples/gpt.py"
    edited.write_text(edited.read_text() + "\n# mine\n")
    refused = openreg_gen("remove", "component", "runtime", "-C", "tree", cwd=tmp_path, code=2)
    assert "needed by" in refused.stderr and "history" in refused.stderr and "examples" in refused.stderr
    everything = ("runtime", "device", "history", "examples", "recurrent", "amp")
    done = openreg_gen("remove", "component", *everything, "-C", "tree", cwd=tmp_path)
    assert "examples/gpt.py" in done.stdout
    assert edited.read_text().endswith("# mine\n")
    after = texts(tree)
    assert after.pop("examples/gpt.py")
    assert after == before


def test_operators_of_minimal_need_nothing_that_is_off(openreg_gen, tmp_path):
    tree = tmp_path / "tree"
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", tree)
    answer = openreg_gen("add", "sin", "nonzero", cwd=tree).stdout
    assert "add sin.out as native: serves 'sin' too; in_tree needs component 'runtime'" in answer
    assert "add nonzero as native: " in answer
    openreg_gen("generate", "--check", cwd=tree)


def test_recurrent_cells_are_kernels_of_the_backend_or_operators_like_others(openreg_gen, tmp_path):
    """Where the component is off, the spec may name them; where it is on they come with the backend."""
    spec = "backend: {name: mybackend}\nprofile: standard\ncomponents: {recurrent: false}\nops:\n"
    (tmp_path / "spec.yaml").write_text(spec + "  _thnn_fused_gru_cell: native\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    assert "_thnn_fused" not in (tmp_path / "tree/csrc/aten/RegisterMinimal.cpp").read_text()
    assert '"_thnn_fused_gru_cell"' in (tmp_path / "tree/csrc/aten/RegisterNative.cpp").read_text()
    refused = openreg_gen("add", "component", "recurrent", "-C", "tree", cwd=tmp_path, code=2).stderr
    assert "'_thnn_fused_gru_cell' is part of the minimal set" in refused
    openreg_gen("remove", "_thnn_fused_gru_cell", cwd=tmp_path / "tree")
    openreg_gen("add", "component", "recurrent", "-C", "tree", cwd=tmp_path)
    assert '"_thnn_fused_lstm_cell"' in (tmp_path / "tree/csrc/aten/RegisterMinimal.cpp").read_text()


def test_a_template_of_ones_own_gives_to_slots(openreg_gen, tmp_path):
    """A binding and a name of torch.mybackend, without an edit of the files that list them."""
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\nprofile: standard\ntemplates: my\n")
    (tmp_path / "my").mkdir()
    (tmp_path / "my/mine.cpp.j2").write_text("void bind_mine();\n")
    (tmp_path / "my/mine.py.j2").write_text("def answer() -> int: ...\n")
    about = "class: generated, about: mine"
    (tmp_path / "my/templates.yaml").write_text(
        f"- {{template: mine.cpp.j2, path: '{{package}}/csrc/mine.cpp', {about}, slots: {{bindings: bind_mine}}}}\n"
        f"- {{template: mine.py.j2, path: '{{package}}/backend/mine.py', {about}, slots: {{exports: answer}}}}\n"
    )
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    package = tmp_path / "tree/torch_mybackend"
    assert "  bind_mine(result);\n" in (package / "csrc/Module.cpp").read_text()
    assert "from .mine import (\n    answer,\n)\n" in (package / "backend/__init__.py").read_text()


def test_keys_of_their_own(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\nprofile: standard\ncompile: false\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    openreg_gen("add", "component", "compile", "-C", "tree", cwd=tmp_path)
    assert (tmp_path / "tree/mybackend.yaml").read_text().endswith("compile: true\n")
    assert (tmp_path / "tree/docs/compile.md").is_file()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("profile: minimal\ncomponents: {history: true}\n", "component 'history' needs 'runtime', which is off"),
        ("components: {testing: false}\n", "component 'sweep' needs 'testing', which is off"),
        ("compile: false\ncomponents: {compile: true}\n", "'compile' is on here and off by 'compile'"),
        ("components: {swep: false}\n", "did you mean 'sweep'"),
        ("profile: minimal\nops: {abs.out: stub}\n", "'abs.out' as 'stub' needs component 'runtime', which is off"),
        (
            "components: {gemm: false}\nops: {mm.out: matmul}\n",
            "'mm.out' as 'matmul' needs component 'gemm', which is off",
        ),
        (
            "components: {virtual_memory: false}\nallocator: {expandable_segments: true}\n",
            "`expandable_segments: true` needs component 'virtual_memory'",
        ),
        ("profile: standard\ncomponents: {pools: false}\n", "component 'pluggable' needs 'pools', which is off"),
        ("profile: minimal\nfallback: alias\n", "`fallback: alias` needs component 'runtime'"),
    ],
)
def test_what_does_not_go_together(spec, said, openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\n" + spec)
    done = openreg_gen("check", "spec.yaml", cwd=tmp_path, code=2)
    assert said in done.stderr + done.stdout


def test_allocators_turn_their_components_on(render):
    direct = texts(render("direct", spec_of("standard") + "allocator: {device: direct}\n"))
    assert "csrc/runtime/DirectAllocator.cpp" in direct
    assert not [name for name in direct if "caching/" in name or "Pluggable" in name]
    pluggable = texts(render("pluggable", spec_of("standard", pluggable=True) + "allocator: {device: pluggable}\n"))
    assert "csrc/runtime/caching/DeviceCache.cpp" in pluggable and "csrc/runtime/PluggableAllocator.cpp" in pluggable
