"""openreg-gen explain, as a process."""

import functools
import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent


def test_a_file_of_a_tree(openreg_gen, tree):
    answer = openreg_gen("explain", "csrc/runtime/Guard.cpp", cwd=tree).stdout
    assert "templates/csrc/runtime/Guard.cpp.j2" in answer and "the device guard, registered" in answer
    assert "as openreg-gen wrote it" in answer and "Note [Device guard]" in answer
    assert "c10::impl::DeviceGuardImplInterface" in answer
    facts = json.loads(openreg_gen("explain", "Guard.cpp", "--json", cwd=tree / "csrc/runtime").stdout)
    assert facts["class"] == "generated" and facts["key"] == "backend" and len(facts["virtuals"]) > 10
    (tree / "README.md").write_text("mine\n")
    assert "edited since" in openreg_gen("explain", tree / "README.md", cwd="/").stdout
    (tree / "mine.txt").write_text("")
    assert "openreg-gen did not write it" in openreg_gen("explain", "mine.txt", cwd=tree).stdout


def test_both_files_of_an_operator_name_it(openreg_gen, tmp_path):
    openreg_gen("new", "mine", "--device", "opencl", cwd=tmp_path)
    for path in ("csrc/aten/native/frac_out.cpp", "torch_mine/opencl/kernels/frac_out.cl"):
        facts = json.loads(openreg_gen("explain", path, "--json", cwd=tmp_path / "torch_mine").stdout)
        assert (facts["op"], facts["class"]) == ("frac.out", "owned")


def nowhere(home):
    """An environment without PyTorch, whichever is active and whatever the user has installed."""
    system = {"PATH": "/usr/bin:/bin", "OPENREG_GEN_PYTHON": "/usr/bin/false", "HOME": str(home)}
    return {**system, "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}


def test_a_kernel_file_names_operator_and_signature(openreg_gen, tree):
    answer = openreg_gen("explain", "csrc/aten/native/relu.cpp", cwd=tree).stdout
    assert "relu(Tensor self) -> Tensor" in answer and "at::Tensor relu(const at::Tensor& self)" in answer
    facts = json.loads(openreg_gen("explain", "csrc/aten/native/abs_out.cpp", "--json", cwd=tree).stdout)
    assert facts["signature"] == "void abs_out_kernel(at::TensorIteratorBase& iter)" and facts["op"] == "abs.out"
    facts = json.loads(openreg_gen("explain", "csrc/aten/native/custom_custom_alias.cpp", "--json", cwd=tree).stdout)
    assert facts["signature"] == "at::Tensor custom_custom_alias(const at::Tensor& self)"
    answer = openreg_gen("explain", "csrc/aten/native/relu.cpp", cwd=tree, torch=None, env=nowhere(tree)).stdout
    assert "at::Tensor relu(const at::Tensor& self)" in answer


def test_each_registered_line_names_its_operator(openreg_gen, tree):
    name = "csrc/aten/RegisterMinimal.cpp"
    lines = (tree / name).read_text().splitlines()
    rows = [i for i, line in enumerate(lines, 1) if '_IMPL(m, "' in line]
    assert len(rows) > 10
    for row in rows[:3]:
        op = json.loads(openreg_gen("explain", f"{name}:{row}", "--json", cwd=tree).stdout)["op"]
        assert f'"{op}"' in lines[row - 1]


def test_a_line_of_the_spec(openreg_gen, tree):
    lines = (tree / "mybackend.yaml").read_text().splitlines()
    row = next(i for i, line in enumerate(lines, 1) if "count:" in line)
    answer = openreg_gen("explain", f"mybackend.yaml:{row}", cwd=tree).stdout
    assert (
        "device.count: a key" in answer
        and "Number of emulated devices." in answer
        and f"mybackend.yaml:{row}" in answer
    )
    row = next(i for i, line in enumerate(lines, 1) if "relu:" in line)
    assert "explain relu`" in openreg_gen("explain", f"mybackend.yaml:{row}", cwd=tree).stdout


def test_an_operator_with_and_without_a_tree(openreg_gen, tree, tmp_path):
    assert "mybackend.yaml:" in openreg_gen("explain", "relu", cwd=tree).stdout
    answer = openreg_gen("explain", "aten::relu", cwd=tmp_path).stdout
    assert "threshold_backward(grad, result, 0)" in answer and "this tree" not in answer
    assert "torch.ops.mybackend.custom_abs" in openreg_gen("explain", "custom_abs", cwd=tree).stdout


def test_what_a_composite_is_made_of(openreg_gen, tmp_path):
    explain = functools.partial(openreg_gen, "explain", cwd=tmp_path)
    answer = json.loads(explain("linear", "--json").stdout)["decomposition"]
    assert answer["torch"] and {"addmm", "t"} <= set(answer["into"]) and "matmul" not in answer["ends_in"]
    assert "decomposes   into addmm, " in explain("linear").stdout
    reached = json.loads(explain("addmm.out", "--json").stdout)["decomposition"]["reached_from"]
    assert "linear" in reached and "lstm.input" in reached and reached.index("linear") < reached.index("lstm.input")
    assert " more (traced with PyTorch " in explain("bmm.out").stdout
    assert "not traced" in explain("_dim_arange").stdout
    assert "decomposes" not in explain("relu").stdout


@pytest.mark.parametrize("name", ["linear", "matmul", "cross_entropy_loss"])
def test_the_trace_is_of_operators_that_there_are(openreg_gen, tmp_path, name):
    known = {op["op"] for op in json.loads(openreg_gen("ops", "--json", cwd=tmp_path).stdout)["ops"]}
    answer = json.loads(openreg_gen("explain", name, "--json", cwd=tmp_path).stdout)["decomposition"]
    assert known.issuperset(answer["into"] + answer["ends_in"] + answer["reached_from"])


@pytest.fixture
def explained(openreg_gen, tree):
    """What `explain` says of a word in a tree, as JSON, under each kind of thing that it names."""

    def explain(word, cwd=tree):
        answer = json.loads(openreg_gen("explain", word, "--json", cwd=cwd).stdout)
        return {each["kind"]: each for each in [answer, *answer.pop("also", [])]}

    return explain


@pytest.mark.parametrize("verb", [("explain",), ("ops", "show")])
def test_strategies_that_the_tree_refuses_are_marked(openreg_gen, environment, tmp_path, verb):
    torch = () if verb == ("explain",) else ("--torch", environment[1])
    tree = tmp_path / "torch_mine"
    openreg_gen("new", "mine", "--profile", "minimal", cwd=tmp_path)

    def rows(op, cwd):
        text = openreg_gen(*verb, op, *torch, cwd=cwd).stdout.partition("strategies\n")[2]
        return dict(re.findall(r"^    (\w+) +(yes|best|no|not here|override)\b", text, re.M)), " ".join(text.split())

    alone, _ = rows("abs.out", tmp_path)
    assert alone["stub"] == "yes" and alone["pointwise"] == "yes"
    here, text = rows("abs.out", tree)
    assert here["stub"] == here["pointwise"] == here["graph"] == "not here" and here["native"] == "best"
    assert "pointwise not here needs component 'loops': `openreg-gen add component loops`" in text
    minimal, text = rows("empty.memory_format", tree)
    assert {minimal["native"], minimal["unsupported"]} == {"not here"} and "part of the minimal set" in text
    details = json.loads(openreg_gen(*verb, "abs.out", *torch, "--json", cwd=tree).stdout)
    details = details if verb == ("explain",) else details["ops"][0]
    refused = {each["strategy"] for each in details["strategies"] if each["fits"] and each["refused_here"]}
    assert {"stub", "pointwise", "graph"} <= refused and details["best_strategy"] == "native"
    # What is not marked is taken, and what is marked is refused.
    for strategy, verdict in here.items():
        more = {"pointwise": ["--expr", "self"], "unsupported": ["--reason", "no"]}.get(strategy, [])
        done = openreg_gen("add", "abs.out", "--strategy", strategy, *more, "--dry-run", cwd=tree, code=None)
        assert (done.returncode == 0) == (verdict in ("yes", "best")), (strategy, verdict, done.stderr)


def test_components_strategies_and_keys(explained, openreg_gen, tree, tmp_path):
    (pools,) = explained("pools").values()
    assert pools["kind"] == "component" and pools["needs"] == "loops" and "memory pools" in pools["for"]
    assert pools["this tree"] == "has it; `openreg-gen remove component pools`"
    assert "this tree" not in openreg_gen("explain", "pools", cwd=tmp_path).stdout
    assert "relu" in explained("native")["strategy"]["this tree"]
    row = next(i for i, line in enumerate((tree / "mybackend.yaml").read_text().splitlines(), 1) if "memory:" in line)
    memory = explained("device.memory")["spec key"]
    assert memory["default"] == "1GiB" and memory["this tree"] == f"mybackend.yaml:{row}"
    assert explained("backend.vendor")["spec key"]["this tree"] == "not in mybackend.yaml"
    assert "float32" in explained("ops.*.dtypes[]")["spec key"]["values"]
    assert "did you mean 'ops.*.dtypes'?" in openreg_gen("explain", "dtypes", cwd=tree, code=1).stderr


def test_a_word_that_names_several_things_is_explained_as_each(explained):
    assert set(explained("matmul")) == {"strategy", "operator"}
    assert {"spec key", "component"} <= set(explained("graphs"))
    assert {"spec key", "glossary"} <= set(explained("FALLBACK"))


@pytest.mark.parametrize("command", [[], ["--profile", "minimal"], ["--device", "external"], ["--device", "opencl"]])
def test_every_function_of_the_device_api(openreg_gen, tmp_path, command):
    openreg_gen("new", "acme", *command, cwd=tmp_path)
    tree = tmp_path / "torch_acme"
    path = "third_party/acme/include/acme.h"
    lines = (tree / path).read_text().splitlines()
    row = next(i for i, line in enumerate(lines, 1) if " acmeMalloc(" in line)
    answer = json.loads(openreg_gen("explain", "acmemalloc", "--json", cwd=tree).stdout)
    assert answer["name"] == "acmeMalloc" and answer["place"] == f"{path}:{row}"
    assert answer["declaration"].endswith("acmeMalloc(void** pointer, size_t size);")
    assert lines[row - 2].removeprefix("// ") in answer["for"]
    assert "did you mean 'acmeMalloc'?" in openreg_gen("explain", "acmeMaloc", cwd=tree, code=1).stderr
    functions = {(word, i) for i, line in enumerate(lines, 1) for word in re.findall(r"_API \w+[ *]+(acme\w+)\(", line)}
    assert len(functions) > 20
    for name, row in sorted(functions)[::7]:
        answer = json.loads(openreg_gen("explain", name, "--json", cwd=tree).stdout)
        assert answer["place"] == f"{path}:{row}" and answer["declaration"].count("(") == answer["declaration"].count(
            ")"
        )


def test_every_variable_of_the_environment(explained, openreg_gen, tmp_path):
    """Each that the tree's code reads, by its own name, and as pages write it."""
    openreg_gen("new", "acme", "--device", "opencl", cwd=tmp_path)
    openreg_gen("new", "acme", "--profile", "full", "--out", "simulated", cwd=tmp_path)
    reads = re.compile(r"(?:getenv\(|number\(|text\(|environ(?:\.get\(|\[))\"(ACME_[A-Z_]+)\"")
    for tree in (tmp_path / "torch_acme", tmp_path / "simulated"):
        files = [path for end in ("cpp", "h", "py") for path in tree.rglob(f"*.{end}") if "tests" not in path.parts]
        names = {name for path in files for name in reads.findall(path.read_text())}
        assert len(names) > 3
        for name in sorted(names):
            answer = explained(name, tree)["variable"]
            assert len(answer["for"]) > 20 and answer["this tree"].startswith("read by "), name
    answer = json.loads(openreg_gen("explain", "MYBACKEND_FALLBACK", "--json", cwd=tmp_path).stdout)
    assert answer["kind"] == "variable" and "without a kernel" in answer["for"] and "/environment.md" in answer["read"]
    assert explained("NAME_FALLBACK", tmp_path / "simulated")["variable"] == explained(
        "ACME_FALLBACK", tmp_path / "simulated"
    )["variable"] | {"name": "NAME_FALLBACK"}
    assert "nothing in it reads" in explained("ACME_SUB_DEVICES", tmp_path / "simulated")["variable"]["this tree"]
    assert "several are installed" in explained("TORCH_DEVICE_BACKEND", tmp_path / "simulated")["variable"]["for"]


def test_every_macro_of_a_tree(explained, tree):
    places = dict.fromkeys(("CHECK", "WARN"), "Exception.h")
    places |= dict.fromkeys(("CHECK_LAUNCH", "CHECK_WAIT", "CHECK_DEVICE"), "DeviceErrors.h")
    for name, file in places.items():
        header = (tree / "csrc/runtime" / file).read_text().splitlines()
        answer = explained("MYBACKEND_" + name, tree)["macro"]
        path, _, line = answer["place"].rpartition(":")
        assert path == f"csrc/runtime/{file}" and f"#define MYBACKEND_{name}(" in header[int(line) - 1]
        assert answer["for"].endswith(".") and answer["declaration"].startswith(f"MYBACKEND_{name}(")
    launch = explained("MYBACKEND_CHECK_LAUNCH", tree)["macro"]["for"]
    assert launch.startswith("MYBACKEND_CHECK_LAUNCH(call), of a call that queues work") and "_WARN" not in launch


TERMS = re.findall(r"^## (.*)\n\n((?:.+\n)+)\nSee: (.+)$", (ROOT / "docs/reference/glossary.md").read_text(), re.M)


def test_the_glossary_is_read_whole(openreg_gen, tmp_path):
    assert len(TERMS) == (ROOT / "docs/reference/glossary.md").read_text().count("\n## ") > 20
    names = [name for term, _, _ in TERMS for name in term.split(", ")]
    assert len({name.lower() for name in names}) == len(names)
    for names, text, _ in TERMS:
        assert 2 <= len(re.findall(r"[.;](?: |\n)", text)) <= 5, names
        name = names.split(", ")[-1]
        answer = json.loads(openreg_gen("explain", name, "--json", cwd=tmp_path).stdout)
        meaning = next(each for each in [answer, *answer.get("also", [])] if each["kind"] == "glossary")["meaning"]
        assert meaning == text.strip().replace("\n", " ")
    # The words that a newcomer meets first.
    known = " ".join(term for term, _, _ in TERMS)
    words = "guard stream boxed structured event fallback PrivateUse1 autograd AMP autocast storage allocator stub meta"
    words += " ladder rung port tree spec owned workbench simulator"
    assert all(word in known for word in [*words.split(), "dispatch key"])


def test_what_the_glossary_points_at_is_there(explained, openreg_gen, tmp_path):
    for profile in ("minimal", "full"):
        openreg_gen("new", "mine", "--profile", profile, "--out", profile, cwd=tmp_path)
    for device in ("external", "opencl"):
        openreg_gen("new", "mine", "--device", device, "--out", device, cwd=tmp_path)
    trees = list(tmp_path.iterdir())
    for names, _, see in TERMS:
        files = re.findall(r"`([^`]+)`", see)
        pages = re.findall(r"\(([^)]+)\)", see)
        files = [file.replace("PACKAGE", "torch_mine").replace("NAME", "mine") for file in files]
        for file in files:
            assert any((tree / file).exists() for tree in trees), (names, file)
        assert all((ROOT / "docs/reference" / page).exists() for page in pages)
    for tree in trees:
        for word in ("guard", "graph", "device API", "AMP"):
            for place in explained(word, tree)["glossary"]["see"].split(", "):
                assert (tree / place).exists(), (tree, word, place)
    assert "csrc/" not in openreg_gen("explain", "guard", cwd=tmp_path).stdout


@pytest.mark.parametrize("word", ["profile", "compile", "graphs", "distributed", "tests", "E0112", "E0135"])
def test_links_lead_to_pages_that_there_are(openreg_gen, tree, tmp_path, word):
    for cwd in (tree, tmp_path):
        answer = " ".join(openreg_gen("explain", word, cwd=cwd).stdout.split())
        assert "](" not in answer
        places = re.findall(r"\(([^() ]+\.md|https://[^() ]+)\)", answer)
        assert places
        for place in places:
            assert place.startswith("https://") or (cwd / place).exists(), place


def test_words_need_no_pytorch(openreg_gen, tmp_path):
    for word in ("guard", "pools", "native", "device.count", "E0203"):
        openreg_gen("explain", word, cwd=tmp_path, torch=None, env=nowhere(tmp_path))
    assert "E04" in openreg_gen("explain", "relu", cwd=tmp_path, torch=None, env=nowhere(tmp_path), code=3).stderr


def test_a_diagnostic(openreg_gen, tmp_path):
    assert openreg_gen("explain", "e0203", cwd=tmp_path).stdout.startswith("E0203: composite operator\n\n  PyTorch")


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("E0999", "E0554"),
        ("csrc/runtime/Gard.cpp", "did you mean 'csrc/runtime/Guard.cpp'?"),
        ("addd.out", "did you mean 'add.out'?"),
        ("gaurd", "did you mean 'guard'?"),
        ("pointwize", "did you mean 'pointwise'?"),
        ("alocator.device", "did you mean 'allocator.device'?"),
    ],
)
def test_what_is_not_there(openreg_gen, tree, what, answer):
    missing = openreg_gen("explain", what, cwd=tree, code=None)
    assert answer in missing.stderr and missing.returncode == (2 if "/" in what else 1)


def test_a_file_by_its_name_alone(openreg_gen, tree, tmp_path):
    whole = openreg_gen("explain", "csrc/runtime/Guard.cpp:5", cwd=tree).stdout
    assert openreg_gen("explain", "Guard.cpp:5", cwd=tree).stdout == whole
    assert "name one: " in openreg_gen("explain", "__init__.py", cwd=tree, code=2).stderr
    assert "'Nosuch.cpp' is not a file" in openreg_gen("explain", "Nosuch.cpp:3", cwd=tree, code=2).stderr


@pytest.mark.nightly
def test_the_shipped_decompositions_are_those_of_this_pytorch(tmp_path):
    fresh = tmp_path / "decompositions.json"
    subprocess.run([sys.executable, ROOT / "scripts/decompositions.py", fresh], check=True, capture_output=True)
    traced, shipped = json.loads(fresh.read_text()), json.loads((ROOT / "specs/decompositions.json").read_text())
    assert traced["torch"] == shipped["torch"]
    assert len(traced["ops"]) > 500
    # Some, since others may depend on what the CPU can do.
    for op in ("einsum", "gru_cell", "layer_norm", "linear", "linalg_matmul", "matmul"):
        assert traced["ops"][op] == shipped["ops"][op]
