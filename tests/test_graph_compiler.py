"""A tree for a device with a graph compiler: `device: {api: compiler}`, `fallback: graph`.

With a mock compiler (external/graph_compiler), which has faults that a real one rarely shows. A real one is OpenVINO:
external/openvino, and `scripts/nightly.sh compiler`.
"""

import subprocess
import sys

import pytest
from ports import BUILT, GENERATOR, ROOT, ladder, new_tree, on_the_card, run

EXECUTABLES, COMPILER = "third_party/mybackend/src/executables.cpp", "torch_mybackend/compiler.py"
SCRIPT = """
import warnings, torch, torch_mybackend
api = torch.mybackend
def graphs(): return [(row.graph, row.source) for row in api.compilations()]
def refused(): return [(row.op, row.category, row.calls) for row in api.refusals()]
x, y = torch.linspace(-2, 2, 6).reshape(2, 3), torch.linspace(1, 3, 6).reshape(2, 3)
a, b = x.to("mybackend"), y.to("mybackend")
"""


@pytest.fixture(scope="module")
def mock(tmp_path_factory):
    external = ROOT / "tests/external"
    given = external / "graph_compiler"
    files = [(given / "executables.cpp", EXECUTABLES), (given / "compiler.py", COMPILER)]
    host = external / "host_port.cpp"
    return new_tree(tmp_path_factory.mktemp("mock"), "--profile", "minimal", device="compiler", port=host, files=files)


def test_each_call_of_the_device_answers_or_says_what_is_missing(mock):
    on_the_card(mock, str(BUILT / "test_surface.py"), "-k", "every_call")


def said(tree, script, check=True, **environment):
    environment = {"MYBACKEND_GRAPH_CACHE": "off", **environment}
    return run(sys.executable, "-c", SCRIPT + script, cwd=tree, check=check, **environment)


def test_the_tree_of_a_compiler_has_its_files(tmp_path):
    tree = tmp_path / "tree"
    done = run(GENERATOR, "new", "mybackend", "--device", "compiler", "--out", str(tree), cwd=tmp_path)
    assert "write compile() of" in done.stdout and COMPILER in done.stdout
    assert "api: compiler" in (tree / "mybackend.yaml").read_text()
    for file in (EXECUTABLES, COMPILER, "torch_mybackend/_graph/eager.py", "tests/test_bringup_4b_graphs.py"):
        assert (tree / file).is_file()
    assert "FallbackKind::kGraph" in (tree / "csrc/host/Fallback.cpp").read_text()
    some = tmp_path / "some.yaml"
    spec = "backend: {name: mybackend}\nprofile: minimal\ndevice: {api: compiler}\nfallback: cpu\n"
    some.write_text(spec + "ops: {exp.out: {fallback: graph}, sin.out: graph}\n")
    run(GENERATOR, "new", "mybackend", "--spec", str(some), "--out", str(tmp_path / "some"), cwd=tmp_path)
    registered = (tmp_path / "some/csrc/aten/RegisterFallback.cpp").read_text()
    for op in ("exp", "sin"):
        assert f'"{op}.out", at::_ops::{op}_out, &fallback_kernel<FallbackKind::kGraph>' in registered
    external = tmp_path / "external"
    run(GENERATOR, "new", "mybackend", "--device", "external", "--out", str(external), cwd=tmp_path)
    assert not (external / COMPILER).exists()
    assert "kGraph" not in (external / "csrc/host/Fallback.cpp").read_text()


@pytest.mark.nightly
def test_a_fresh_tree_runs_on_the_cpu_and_says_why(tmp_path):
    files = [(ROOT / "tests/external/host_port.cpp", "third_party/mybackend/src/port.cpp")]
    tree = new_tree(tmp_path, "--profile", "minimal", device="compiler", files=files)
    script = "assert torch.equal((a + b).cpu(), x + y)\nprint(api.refusals()[0].reason)"
    assert said(tree, script).stdout == "compile() of torch_mybackend/compiler.py is not written yet\n"
    none = said(tree, "a + b", check=False, MYBACKEND_FALLBACK="none")
    assert "compile() of torch_mybackend/compiler.py is not written yet), and MYBACKEND_FALLBACK is none" in none.stderr


def test_the_ladder_with_the_mock(mock):
    outcomes, output = ladder(mock, MYBACKEND_GRAPH_CACHE="off")
    assert set(outcomes.values()) == {"PASSED"}, output


@pytest.mark.nightly
def test_a_wrong_executable_is_found_by_the_trees_own_tests(mock):
    outcomes, output = ladder(mock, MYBACKEND_GRAPH_CACHE="off", MOCK_FAULT="wrong")
    failed = {name.partition("::")[2] for name, outcome in outcomes.items() if outcome == "FAILED"}
    assert {"test_operator[add]", "test_an_operator_is_compiled_once", "test_in_place_and_through_a_view"} <= failed, (
        output
    )


@pytest.mark.nightly
def test_what_the_compiler_refuses_runs_on_the_cpu_and_is_counted(mock):
    script = """
assert torch.equal(torch.exp(a).cpu(), x.exp()) and torch.equal((a.double() + 1).cpu(), x.double() + 1)
assert torch.equal(torch.nonzero(a > 0).cpu(), torch.nonzero(x > 0)) and torch.exp(a).shape == x.shape
assert torch.equal(torch.ops.aten.conj_physical.out(a, out=torch.empty_like(a)).cpu(), x)
assert torch.equal((a * 1e300).cpu(), x * 1e300) and torch.equal((a * 2).cpu(), x * 2)
integers = torch.zeros(2, 3, dtype=torch.int64)
for c, z, out in ((a, b, integers.to("mybackend")), (x, y, integers)):
    try:
        torch.add(c, z, out=out)
    except RuntimeError as error:
        print(error)
print(sorted(refused()))
"""
    cast, again, answer = said(mock, script).stdout.splitlines()
    assert cast == again == "result type Float can't be cast to the desired output type Long"
    assert "('aten::exp.out', 'operator', 2)" in answer and "('aten::nonzero', 'shape', 1)" in answer
    assert "('aten::add.out', 'dtype', 1)" in answer
    assert "('aten::mul.out', 'dtype', 1)" in answer
    assert "('aten::conj_physical.out', 'operator', 1)" in answer
    none = said(mock, "assert torch.equal((a + b).cpu(), x + y)\ntorch.exp(a)", check=False, MYBACKEND_FALLBACK="none")
    assert "aten::exp.out is not run by the graph compiler of mybackend (operator: aten.exp.default)" in none.stderr
    assert said(mock, "a + b\nprint(graphs(), refused())", MYBACKEND_FALLBACK="copy").stdout == "[] []\n"


@pytest.mark.nightly
def test_a_compiler_that_fails_or_hangs(mock):
    script = "warnings.simplefilter('always')\nassert torch.equal((a + b).cpu(), x + y)\na + b\nprint(refused())"
    done = said(mock, script, MOCK_FAULT="error")
    assert done.stdout == "[('aten::add.out', 'compile error', 2)]\n"
    assert done.stderr.count("ValueError: the mock fails, as it was asked to; it runs on the CPU") == 1
    graph = "aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3])"
    done = said(mock, script, MOCK_FAULT="hang", MYBACKEND_COMPILE_SECONDS="1.5")
    assert done.stdout == "[('aten::add.out', 'time limit', 2)]\n"
    assert f"mybackend: compiling {graph}\n" in done.stderr
    assert f"{graph}: the compiler takes longer than 1.5 s" in done.stderr


@pytest.mark.nightly
def test_an_executable_that_the_device_lost_is_loaded_again(mock):
    script = "assert torch.equal((a + b).cpu(), x + y)\nprint(len(graphs()), refused())"
    assert said(mock, script, MOCK_LOSE="1").stdout == "1 []\n"
    lost = said(mock, script, check=False, MOCK_LOSE="2")
    assert (
        "aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3]): the device lost its executable" in lost.stderr
    )


@pytest.mark.nightly
def test_writes(mock):
    """Into views, and into operands; overlaps are PyTorch's errors."""
    script = """
for target in (lambda t: t.t(), lambda t: t[:, :2], lambda t: t[1]):
    c, e = a.clone(), x.clone()
    target(c).mul_(target(b)), target(e).mul_(target(y))
    assert torch.equal(c.cpu(), e)
c, e = a.clone(), x.clone()
torch.add(c, b, out=c), torch.add(e, y, out=e)
assert torch.equal(c.cpu(), e)
assert torch.equal(torch.add(a, b, out=a.new_empty(0)).cpu(), x + y)
for bad in (lambda: a[:1].expand(2, 3).add_(b), lambda: torch.add(a.view(-1)[:3], b[0], out=a.view(-1)[1:4])):
    try:
        bad()
    except RuntimeError as error:
        print(str(error).partition(":")[0])
print(sorted(refused()))
"""
    assert said(mock, script).stdout == (
        "unsupported operation\n" * 2 + "[('aten::add.out', 'operator', 1), ('aten::mul.out', 'operator', 2)]\n"
    )


ASKED = """
from torch_mybackend import _C
from torch_mybackend._graph import eager
asked = []
def plan(name, overload, arguments):
    asked.append(name)
    return eager.plan(name, overload, arguments)
_C._set_make_plan(plan)
"""


def test_a_warm_call_does_not_need_python(mock):
    script = """
def same(result, expected):
    torch.testing.assert_close(result.cpu(), expected)
    assert result.dtype == expected.dtype and result.stride() == expected.stride()
for number in (2.5, 0.0, -0.0, 1.0, 3.0):
    same(torch.mul(a, number), x * number)
    assert torch.equal(torch.mul(a, number).cpu().signbit(), (x * number).signbit())
assert asked == ["aten::mul"], asked
for alpha in (1, 2, 3, 2.0, 0.5):
    same(torch.sub(a, b, alpha=alpha), torch.sub(x, y, alpha=alpha))
assert asked == ["aten::mul"] + ["aten::sub"] * 3, asked
c, z = torch.zeros(9, 2, 3, device="mybackend"), torch.zeros(9, 2, 3)
asked.clear()
for row in range(1, 9):
    torch.mul(c[row - 1], b, out=c[row]), torch.mul(z[row - 1], y, out=z[row])
    c[row].add_(b), z[row].add_(y)
same(c, z)
assert asked == ["aten::mul", "aten::add"], asked
assert refused() == [], refused()
"""
    said(mock, ASKED + script)


@pytest.mark.nightly
def test_calls_at_random_are_as_on_the_cpu(mock):
    """Views of a few tensors, in and out of place, written where they are read: as the CPU does it, errors included."""
    script = """
import random
random.seed(0)
VIEWS = [lambda t: t[:], lambda t: t.t(), lambda t: t[1:4, 2:5], lambda t: t[::2, ::2], lambda t: t[1:4, 2:5].t(),
         lambda t: t[2].expand(6, 6), lambda t: t.flip(0), lambda t: t[3], lambda t: t.view(3, 12), lambda t: t[4, 5]]
OPS = [lambda p, q, r: torch.add(p, q, alpha=0.5), lambda p, q, r: p * q, lambda p, q, r: torch.sub(p, q, out=r),
       lambda p, q, r: torch.mul(p, q, out=r), lambda p, q, r: p.add_(q), lambda p, q, r: p.mul_(0.75), lambda p, q, r: p - 2]
bases = [torch.rand(6, 6) for _ in range(3)]
places = [(each.to("mybackend"), each) for each in bases]
worked = failed = 0
for _ in range(2000):
    op = random.choice(OPS)
    picks = [(random.choice(places), random.choice(VIEWS)) for _ in range(3)]
    if random.random() < 0.5:
        picks[1] = picks[1][0], picks[0][1]
    if random.random() < 0.5:
        picks[2] = picks[2][0], picks[0][1]
    outcomes = []
    for side in (0, 1):
        try:
            outcomes.append(op(*[view(place[side]) for place, view in picks]).cpu())
        except RuntimeError as error:
            outcomes.append(str(error).partition(":")[0].partition(".")[0])
    ours, expected = outcomes
    if isinstance(expected, str):
        assert ours == expected, (ours, expected)
        failed += 1
    else:
        assert not isinstance(ours, str), ours
        torch.testing.assert_close(ours, expected)
        worked += 1
    for ours, expected in places:
        torch.testing.assert_close(ours.cpu(), expected)
        expected.clamp_(-2, 2), ours.copy_(expected)
assert worked > 500 and failed > 50, (worked, failed)
assert len(asked) < 1900, len(asked)
"""
    done = said(mock, "warnings.simplefilter('ignore')\n" + ASKED + script)
    assert "fake_tensor" not in done.stderr


def test_threads_that_need_graphs_at_once(mock):
    script = """
import threading
def work(rows):
    for columns in range(1, 9):
        p = torch.rand(rows, columns)
        assert torch.equal((p.to("mybackend") * 3 + p.to("mybackend")).cpu(), p * 3 + p)
threads = [threading.Thread(target=work, args=(rows,)) for rows in range(2, 8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(refused(), len(graphs()))
"""
    assert said(mock, script).stdout == "[] 96\n"


def test_the_sweep_on_two_subjects(mock, tmp_path):
    """Operators that the mock refuses run on the CPU; a wrong executable is found."""
    options = ["--dtype", "float32", "--most", "3", "--fresh", "--results", str(tmp_path / "results.jsonl")]
    command = [sys.executable, "-m", "openreg_gen.sweep", "--device", "mybackend", "--import", "torch_mybackend"]
    environment = {"PYTHONPATH": f"{mock}:{ROOT / 'generator/workbench'}", "MYBACKEND_GRAPH_CACHE": "off"}
    done = run(*command, *options, "add", "mul", cwd=mock, **environment)
    assert "Nothing differs" in done.stdout
    wrong = run(
        *command, *options, "--variant", "forward", "add", cwd=mock, check=False, MOCK_FAULT="wrong", **environment
    )
    assert wrong.returncode == 1
    assert "value: add/forward/float32" in wrong.stdout


@pytest.mark.nightly
def test_four_processes_share_a_cache(mock, tmp_path):
    script = "assert torch.equal((a + b * 3).cpu(), x + y * 3)\nprint(sorted(source for _, source in graphs()))"
    command = (sys.executable, "-c", SCRIPT + script)
    environment = ["env", f"MYBACKEND_GRAPH_CACHE={tmp_path}", "TORCH_DEVICE_BACKEND_AUTOLOAD=0", f"PYTHONPATH={mock}"]
    cold = [subprocess.Popen([*environment, *command], stdout=subprocess.PIPE) for _ in range(4)]
    assert all(each.wait(timeout=600) == 0 for each in cold)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2 and not any(file.name.startswith(".") for file in files)
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['disk', 'disk']\n"
    files[0].write_bytes(files[0].read_bytes()[:-1])
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['compiler', 'disk']\n"
    said(mock, script + "\na * b", MYBACKEND_GRAPH_CACHE=str(tmp_path), MYBACKEND_GRAPH_CACHE_FILES="1")
    assert len(list(tmp_path.iterdir())) == 1
    with (mock / "torch_mybackend/_graph/trace.py").open("a") as source:  # as `generate` may rewrite it
        source.write("\n")
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['compiler', 'compiler']\n"


COMPILED = """
from torch_mybackend._graph.compiled import compile_graph
def function(x, y): return torch.exp(x + y) * y - x
compiled = torch.compile(function, backend=compile_graph)
"""


@pytest.mark.nightly
def test_torch_compile_gives_the_compiler_what_it_takes(mock, tmp_path):
    """exp is not one of the mock's operators: it runs on the CPU, between two executables."""
    script = (
        COMPILED
        + """
p, q = a.clone().requires_grad_(), x.clone().requires_grad_()
for scale in (1, 2):
    torch.testing.assert_close(compiled(a * scale, b).cpu(), function(x * scale, y))
api.reset_compilations()
compiled(p, b).sum().backward(), function(q, y).sum().backward()
torch.testing.assert_close(p.grad.cpu(), q.grad)
print(sorted({row.graph for row in api.compilations() if "torch.compile" in row.graph}))
print(sorted({row[0] for row in refused()}))
torch._dynamo.reset()
torch.compile(function, backend=compile_graph)(a[:, :2], b[:, :2])
print(sorted(set(graphs()))[-1])
"""
    )
    folder = str(tmp_path)
    first = said(mock, script, MYBACKEND_GRAPH_CACHE=folder).stdout
    assert "torch.compile: aten.mul.Tensor to aten.sub.Tensor, 2 operators" in first
    assert "'aten::exp.out'" in first
    assert "'compiler')" in first
    again = said(mock, script, MYBACKEND_GRAPH_CACHE=folder).stdout
    assert again == first.replace("'compiler')", "'disk')")


@pytest.mark.nightly
def test_torch_compile_and_faults(mock):
    run = COMPILED + "torch.testing.assert_close(compiled(a, b).cpu(), function(x, y))\nprint(graphs(), refused())"
    assert said(mock, run, MYBACKEND_FALLBACK="copy").stdout == "[] []\n"
    assert "Tensor-likes are not close" in said(mock, run, check=False, MOCK_FAULT="wrong").stderr
    failed = said(mock, run, MOCK_FAULT="error")
    assert "('torch.compile: aten.mul.Tensor to aten.sub.Tensor, 2 operators', 'compile error', 1)" in failed.stdout
    none = said(mock, run, check=False, MYBACKEND_FALLBACK="none").stderr
    assert "aten::exp.out is not run by the graph compiler of mybackend (operator: aten.exp.default)" in none
    options = COMPILED + "torch.compile(function, backend=compile_graph, options={'level': 3})(a, b)"
    assert "takes no options, and got ['options']" in said(mock, options, check=False).stderr


@pytest.mark.nightly
def test_a_compilation_is_on_the_profilers_timeline(mock):
    script = """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    a + b
    a + b
print([(row.key, row.count) for row in profile.key_averages() if "compile" in row.key])
"""
    name = "compile aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3])"
    assert said(mock, script).stdout == f"[('{name}', 1)]\n"
