"""Components: each off alone and on alone renders and leaves no trace; profiles; the verbs that bring them in and take
them out of living trees."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from component_names import left_alone, left_behind, own_names, pytorchs, unbound
from trees import MANIFEST, ROOT, files

sys.path.insert(0, str(ROOT / "scripts"))
import choose  # noqa: E402

NAMES = choose.all_components()
COMPONENT = {
    template: row[0] for template, row in choose.rows_of((ROOT / "templates/templates.yaml").read_text()).items()
}


@pytest.fixture(scope="module")
def needs(openreg_gen):
    """What each needs, as the command says."""
    listed = json.loads(openreg_gen("components", "--json", cwd="/").stdout)["components"]
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
        if not (where / name).exists():
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


def without(name, needs, render):
    """The full tree without a component, and what goes with it."""
    gone = dependents(name, needs)
    return render(f"without_{name}", spec_of("full", **dict.fromkeys(sorted(gone), False))), gone


def components_of(tree):
    """Of which components a tree has files, as the rows of their templates say."""
    listed = json.loads((tree / MANIFEST).read_text())["files"].values()
    return {COMPONENT.get(f"templates/{file['template']}") for file in listed} - {None}


@pytest.fixture(scope="module")
def names(needs, render, full):
    """Per component: what it has alone of the full tree, and which of PyTorch's headers and modules."""
    of_full, rests = texts(full), {name: texts(without(name, needs, render)[0]) for name in NAMES}
    own = own_names(of_full, rests)
    return {name: (own[name], pytorchs(of_full) - pytorchs(rests[name])) for name in NAMES}


def check(tree, absent, names):
    """Nothing of what is absent is there or named but in its one table; includes are of files that are there; formatted."""
    found = texts(tree)
    found.pop("torch_mybackend/_absent.py", None)
    assert components_of(tree) & absent == set()
    assert left_behind(set().union(*(names[name][0] for name in absent)), found) == []
    assert set().union(*(names[name][1] for name in absent)) & pytorchs(found) == set()
    assert unbound(found) == []
    for path, text in found.items():
        if path.endswith((".cpp", ".h")) and not path.startswith("third_party"):
            for header in re.findall(r'^#include "((?:runtime|host|aten|graphs|programs)/[^"]+)"', text, re.M):
                assert f"csrc/{header}" in found, f"{path} includes {header}"
    sources = [f for f in found if f.endswith((".cpp", ".h", ".c"))]
    for command in (
        ["ruff", "check", "-q", "--no-cache", "."],
        ["ruff", "format", "--check", "-q", "--no-cache", "."],
        ["clang-format", "--dry-run", "-Werror", *sources],
    ):
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[:2000]


def test_components_are_those_of_the_command(needs):
    assert set(NAMES) == set(needs) == set(COMPONENT.values()) - {None}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there_when_on(name, full, names):
    assert name in components_of(full)
    assert len(names[name][0]) >= (5 if name == "sanitizer" else 10)  # it has one file, and adds no name to C++


@pytest.mark.parametrize("name", NAMES)
def test_off_alone(name, needs, render, names, full):
    tree, gone = without(name, needs, render)
    check(tree, gone, names)
    rest = {path: text for path, text in texts(tree).items() if not path.endswith("/_absent.py")}
    assert left_alone(texts(full), rest) == []


@pytest.mark.parametrize("name", NAMES)
def test_on_alone(name, needs, render, names):
    here = with_needs(name, needs)
    tree = render(f"with_{name}", spec_of("minimal", **dict.fromkeys(sorted(here), True)))
    check(tree, set(NAMES) - here, names)
    assert here <= components_of(tree)


def kept_lines(before, after):
    """Which part of the lines of a text is in another, each as often as it is there."""
    lines = Counter(before.splitlines())
    return 1 - (lines - Counter(after.splitlines())).total() / lines.total()


@pytest.mark.parametrize("name", NAMES)
def test_growing_keeps_the_files_that_are_there(name, needs, render):
    """A component adds files, and lines to some."""
    minimal = render("minimal", spec_of("minimal"))
    listed = json.loads((minimal / MANIFEST).read_text())["files"]
    core = [path for path, file in listed.items() if not file["template"].startswith("third_party/small/")]
    grown = texts(render(f"with_{name}", spec_of("minimal", **dict.fromkeys(sorted(with_needs(name, needs)), True))))
    parts = ("csrc/", "torch_mybackend/", "tests/")
    kept = {
        path: kept_lines((minimal / path).read_text(), grown.get(path, "")) for path in core if path.startswith(parts)
    }
    assert len(kept) > 25
    kept.pop("torch_mybackend/_absent.py")  # which gets shorter, as it should
    kept.pop("csrc/aten/RegisterOverrideable.cpp")  # in the place of kernels that loops has
    if "memory" in with_needs(
        name, needs
    ):  # its allocator of pinned memory is in the place of one that says what is absent
        del kept["csrc/runtime/Hooks.cpp"]
    if name in ("recurrent", "examples"):  # a fused cell serves what is composed without it
        del kept["csrc/aten/native/RecurrentCells.cpp"]
    if name == "compound":  # it serves the layouts that are refused without it
        assert kept.pop("csrc/host/Fallback.cpp") > 0.85
    assert {path: part for path, part in kept.items() if part < 0.9} == {}


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("gemm", "docs/operators.md", "Products are computed by third_party/mybackend/src/gemm.cpp."),
        ("pools", "torch_mybackend/backend/memory.py", "# as use_mem_pool does"),
        ("pools", "torch_mybackend/csrc/Module.cpp", "  bind_pools(module);"),
        ("fallback_report", "csrc/aten/Fallback.cpp", '#include "host/FallbackReport.h"'),
        ("history", "README.md", "`_C._memory_snapshot` says more."),
        ("amp", "csrc/CMakeLists.txt", "file(GLOB amp csrc/amp/*.cpp)"),
        ("compile", "setup.py", 'packages=["torch_mybackend._inductor"]'),
        ("profiler", "README.md", "KinetoProfiler"),
        ("distributed", "csrc/runtime/Hooks.cpp", '#include "distributed/ProcessGroup.h"'),
        ("cpp_tests", "CMakeLists.txt", "option(MYBACKEND_BUILD_TESTS)"),
        ("device", "tests/conftest.py", "mybackendDebugFailCall()"),
        ("device", "README.md", "MYBACKEND_ISOLATION=off"),
    ],
)
def test_what_is_left_behind_is_found(name, path, text, needs, render, names, full):
    found = texts(without(name, needs, render)[0])
    found.pop("torch_mybackend/_absent.py")
    assert left_behind(names[name][0], found) == []
    found[path] = found.get(path, "") + text + "\n"
    assert left_behind(names[name][0], found) + left_alone(texts(full), found) != []


@pytest.mark.parametrize("kind", ["emulator", "external", "opencl", "compiler"])
@pytest.mark.parametrize("profile", ["minimal", "standard", "full"])
def test_python_calls_bindings_that_are_there(profile, kind, render):
    found = texts(render(f"bindings_{profile}_{kind}", spec_of(profile) + f"device: {{api: {kind}}}\n"))
    assert unbound(found) == []
    found["torch_mybackend/backend/device.py"] += "_C._nobody_makes_this()\n"
    assert unbound(found) == [("_nobody_makes_this", "torch_mybackend/backend/device.py")]


def test_profiles_grow(render, full):
    minimal, standard = (set(texts(render(f"profile_{each}", spec_of(each)))) for each in ("minimal", "standard"))
    assert len(minimal) < len(standard) < len(texts(full))
    assert standard - set(texts(full)) == {"torch_mybackend/_absent.py"}


def test_readme_says_what_there_is(full, render):
    readme = (full / "README.md").read_text()
    for name in NAMES:
        assert f"| `{name}` | " in readme
    external = render("readme_external", spec_of("standard") + "device: {api: external}\n")
    for tree in (full, external, render("readme", spec_of("minimal"))):
        assert not re.search(r"@\w*:?\w*@", (tree / "README.md").read_text())
        section = (tree / "README.md").read_text().split("## Read it")[1].split("\n## ")[0]
        top_down, bottom_up = (re.findall(r"^\| `([^`]+)` \|", part, re.M) for part in section.split("Bottom up"))
        assert 6 <= len(top_down) <= 8
        assert 8 <= len(bottom_up) <= 12
        assert [path for path in (*top_down, *bottom_up) if not (tree / path).is_file()] == []


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
    assert [each["component"] for each in report["added"]] == ["device", "errors", "memory", "loops", "history"]
    assert (tree / "torch_mybackend/backend/memory_history.py").is_file()
    assert (tree / "third_party/mybackend/src/isolation.cpp").is_file()
    assert not (tree / "third_party/mybackend/src/memory.cpp").exists()
    openreg_gen("add", "component", "examples", "-C", "tree", cwd=tmp_path)
    edited = tree / "examples/gpt.py"
    edited.write_text(edited.read_text() + "\n# mine\n")
    refused = openreg_gen("remove", "component", "loops", "-C", "tree", cwd=tmp_path, code=2)
    assert "needed by" in refused.stderr and "history" in refused.stderr and "examples" in refused.stderr
    everything = ("loops", "memory", "errors", "device", "history", "examples", "recurrent", "amp")
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
    assert "add sin.out as native: serves 'sin' too; in_tree needs component 'loops'" in answer
    assert "add nonzero as native: " in answer
    openreg_gen("generate", "--check", cwd=tree)


def test_what_lacks_a_component_names_the_command_that_adds_it(openreg_gen, tmp_path):
    """And the command works, though the spec is refused until then."""
    tree = tmp_path / "tree"
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", tree)
    spec = tree / "mybackend.yaml"
    written = spec.read_text()
    entry = "ops:\n  hypot.out: {strategy: pointwise, expr: self + other}\n"
    spec.write_text(written.replace("ops:\n", entry, 1) if "\nops:\n" in written else written + entry)
    refused = openreg_gen("generate", cwd=tree, code=2).stderr
    assert "E0182" in refused and "hint: `openreg-gen add component loops`; or" in refused
    assert "add component" not in openreg_gen("add", "component", "serialization", cwd=tree, code=2).stdout
    openreg_gen("add", "component", "loops", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    # Of other errors nothing is edited.
    spec.write_text(spec.read_text().replace("strategy: pointwise", "strategy: pointwize"))
    assert "E0116" in openreg_gen("add", "component", "amp", cwd=tree, code=2).stderr


@pytest.mark.parametrize("device", ["external", "opencl", "compiler"])
def test_the_device_of_a_tree_that_simulates_none(openreg_gen, tmp_path, device):
    openreg_gen("new", "mine", "--device", device, cwd=tmp_path)
    shown = json.loads(openreg_gen("components", "--json", cwd=tmp_path / "torch_mine").stdout)["components"]
    explained = json.loads(openreg_gen("explain", "device", "--json", cwd=tmp_path / "torch_mine").stdout)
    (component,) = (each for each in [explained, *explained.get("also", [])] if each["kind"] == "component")
    for about in (next(each["about"] for each in shown if each["name"] == "device"), component["for"]):
        assert about.startswith("the device library") and "simulated device:" not in about


def test_recurrent_cells_are_kernels_of_the_backend_or_operators_like_others(openreg_gen, tmp_path):
    """Where the component is off, the spec may name them; where it is on they come with the backend."""
    spec = "backend: {name: mybackend}\nprofile: standard\ncomponents: {recurrent: false}\nops:\n"
    (tmp_path / "spec.yaml").write_text(spec + "  _thnn_fused_gru_cell: native\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    assert "_thnn_fused" not in (tmp_path / "tree/csrc/aten/RegisterMinimal.cpp").read_text()
    assert '"_thnn_fused_gru_cell"' in (tmp_path / "tree/csrc/aten/native/_thnn_fused_gru_cell.cpp").read_text()
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
    assert "  bind_mine(module);\n" in (package / "csrc/Module.cpp").read_text()
    assert "from .mine import (\n    answer,\n)\n" in (package / "backend/__init__.py").read_text()


def test_keys_of_their_own(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\nprofile: standard\ncompile: false\n")
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    openreg_gen("add", "component", "compile", "-C", "tree", cwd=tmp_path)
    assert (tmp_path / "tree/mybackend.yaml").read_text().endswith("compile: true\n")
    assert (tmp_path / "tree/docs/compile.md").is_file()


@pytest.mark.parametrize(
    ("spec", "code", "facts"),
    [
        ("profile: minimal\ncomponents: {history: true}\n", "E0181", "'history' 'loops'"),
        ("components: {pools: false}\n", "E0181", "'pluggable' 'pools'"),
        ("compile: false\ncomponents: {compile: true}\n", "E0180", "'compile'"),
        ("components: {pols: false}\n", "E0112", "'pols' 'pools'"),
        ("profile: minimal\nops: {abs.out: stub}\n", "E0182", "'abs.out' 'stub' 'loops'"),
        ("components: {gemm: false}\nops: {mm.out: matmul}\n", "E0182", "'mm.out' 'matmul' 'gemm'"),
        (
            "components: {virtual_memory: false}\nallocator: {expandable_segments: true}\n",
            "E0182",
            "`expandable_segments: 'virtual_memory'",
        ),
        ("profile: full\ncomponents: {pools: false}\n", "E0181", "'pluggable' 'pools'"),
        ("profile: minimal\nfallback: alias\n", "E0182", "alias` 'host_alias'"),
    ],
)
def test_what_does_not_go_together(spec, code, facts, openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("backend: {name: mybackend}\n" + spec)
    done = openreg_gen("check", "spec.yaml", "--json", cwd=tmp_path, code=2)
    diagnostics = json.loads(done.stdout)["diagnostics"]
    found = [f"{each['message']} {each['hint']}" for each in diagnostics if each["code"] == code]
    assert any(all(fact in said for fact in facts.split()) for said in found), found


def test_allocators_turn_their_components_on(render):
    direct = texts(render("direct", spec_of("standard") + "allocator: {device: direct}\n"))
    assert "csrc/runtime/BlockAllocator.cpp" in direct
    assert not [name for name in direct if "caching/" in name or "Pluggable" in name]
    pluggable = texts(
        render("pluggable", spec_of("standard", pools=True, pluggable=True) + "allocator: {device: pluggable}\n")
    )
    assert "csrc/runtime/caching/DeviceCache.cpp" in pluggable and "csrc/runtime/PluggableAllocator.cpp" in pluggable
