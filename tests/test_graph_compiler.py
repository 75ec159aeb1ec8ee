"""A tree for a device with a graph compiler: `device: {api: compiler}`, `fallback: graph`.

With a mock compiler (external/graph_compiler), which has faults that a real one rarely shows. A real one is OpenVINO:
external/openvino, and `scripts/nightly.sh compiler`.
"""

import json
import os
import re
import subprocess
import sys
import threading
import types

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


# Importing PyTorch takes longer than most scripts, so one process runs all that need no process of their own.
SESSION = """
import contextlib, io, json, os, sys, traceback, warnings
import torch, torch_mybackend
from torch_mybackend import _C
from torch_mybackend._graph import eager, executables
answers = os.dup(1)
for line in sys.stdin:
    script, environment = json.loads(line)
    executables.forget(), torch.mybackend.reset_compilations(), _C._set_graph_maker(eager.describe, eager.compile)
    os.environ.update(environment)
    out, err, failed = io.StringIO(), io.StringIO(), False
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            exec(compile(script, "script", "exec"), {"__name__": "script"})
        except BaseException:
            failed = True
            traceback.print_exc()
    for name in environment:
        del os.environ[name]
    torch.set_default_dtype(torch.float32)
    os.write(answers, json.dumps([out.getvalue(), err.getvalue(), failed]).encode() + b"\\n")
"""


@pytest.fixture(scope="module")
def session(mock):
    """As said(), in a process that stays. Settings that a process reads once, such as MYBACKEND_FALLBACK, need said()."""
    env = {**os.environ, "PYTHONPATH": str(mock), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION], cwd=mock, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def ask(script, check=True, **environment):
        environment = {"MYBACKEND_GRAPH_CACHE": "off", "MYBACKEND_COMPILE_SECONDS": "120", **environment}
        process.stdin.write(json.dumps([SCRIPT + script, environment]) + "\n")
        process.stdin.flush()
        alarm = threading.Timer(300, process.kill)  # then the line is empty, and the test fails
        alarm.start()
        out, err, failed = json.loads(process.stdout.readline())
        alarm.cancel()
        assert not (check and failed), out + err
        return types.SimpleNamespace(stdout=out, stderr=err)

    yield ask
    process.stdin.close()
    assert process.wait(timeout=60) == 0


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
        assert f'"{op}.out", at::_ops::{op}_out, &fall_back<FallbackKind::kGraph>' in registered
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


def test_what_the_compiler_refuses_runs_on_the_cpu_and_is_counted(session):
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
    cast, again, answer = session(script).stdout.splitlines()
    assert cast == again == "result type Float can't be cast to the desired output type Long"
    assert "('aten::exp.out', 'operator', 2)" in answer and "('aten::nonzero', 'shape', 1)" in answer
    assert "('aten::add.out', 'dtype', 1)" in answer
    assert "('aten::mul.out', 'dtype', 1)" in answer
    assert "('aten::conj_physical.out', 'operator', 1)" in answer


@pytest.mark.nightly
def test_the_fallback_that_a_user_asks_for(mock):
    none = said(mock, "assert torch.equal((a + b).cpu(), x + y)\ntorch.exp(a)", check=False, MYBACKEND_FALLBACK="none")
    assert "aten::exp.out is not run by the graph compiler of mybackend (operator: aten.exp.default)" in none.stderr
    assert said(mock, "a + b\nprint(graphs(), refused())", MYBACKEND_FALLBACK="copy").stdout == "[] []\n"


def test_a_compiler_that_fails_or_hangs(session):
    script = "warnings.simplefilter('always')\nassert torch.equal((a + b).cpu(), x + y)\na + b\nprint(refused())"
    done = session(script, MOCK_FAULT="error")
    assert done.stdout == "[('aten::add.out', 'compile error', 2)]\n"  # the second call does not ask again: see below
    assert done.stderr.count("ValueError: the mock fails, as it was asked to; it runs on the CPU") == 1
    graph = "aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3])"
    late = """
os.environ["MOCK_FAULT"] = ""
while not graphs():
    time.sleep(0.01)
assert torch.equal((a + b).cpu(), x + y) and refused()[0][2] == 2, refused()
"""
    done = session("import os, time\n" + script + late, MOCK_FAULT="hang", MYBACKEND_COMPILE_SECONDS="1.5")
    assert done.stdout == "[('aten::add.out', 'time limit', 2)]\n"
    assert f"mybackend: compiling {graph}\n" in done.stderr
    assert f"{graph}: the compiler takes longer than 1.5 s" in done.stderr


def test_an_executable_that_the_device_lost_is_loaded_again(session):
    script = "assert torch.equal((a + b).cpu(), x + y)\nprint(len(graphs()), refused())"
    assert session(script, MOCK_LOSE="1").stdout == "1 []\n"
    lost = session(script, check=False, MOCK_LOSE="2")
    assert (
        "aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3]): the device lost its executable" in lost.stderr
    )


def test_writes(session):
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
    assert session(script).stdout == (
        "unsupported operation\n" * 2 + "[('aten::add.out', 'operator', 1), ('aten::mul.out', 'operator', 2)]\n"
    )


ASKED = """
from torch_mybackend import _C
from torch_mybackend._graph import eager
asked = []
def compile(name, *arguments):
    asked.append(name)
    return eager.compile(name, *arguments)
_C._set_graph_maker(eager.describe, compile)
"""


def test_a_warm_call_does_not_need_python(session):
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
    session(ASKED + script)


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


def test_threads_that_need_graphs_at_once(session):
    script = """
import threading
def work(rows):
    for columns in range(1, 5):
        p = torch.rand(rows, columns)
        assert torch.equal((p.to("mybackend") * 3 + p.to("mybackend")).cpu(), p * 3 + p)
threads = [threading.Thread(target=work, args=(rows,)) for rows in range(2, 8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(refused(), len(graphs()))
"""
    assert session(script).stdout == "[] 48\n"


def test_the_sweep_on_two_subjects(mock, tmp_path):
    """Operators that the mock refuses run on the CPU; a wrong executable is found."""
    options = ["--dtype", "float32", "--limit", "3", "--fresh", "--out", str(tmp_path / "results.jsonl")]
    command = [sys.executable, "-m", "openreg_gen.sweep", "--device", "mybackend", "--import", "torch_mybackend"]
    environment = {"PYTHONPATH": f"{mock}:{ROOT / 'generator/workbench'}", "MYBACKEND_GRAPH_CACHE": "off"}
    done = run(*command, *options, "add", "mul", cwd=mock, **environment)
    assert "Nothing differs" in done.stdout
    wrong = run(
        *command, *options, "--variant", "forward", "add", cwd=mock, check=False, MOCK_FAULT="wrong", **environment
    )
    assert wrong.returncode == 1
    assert re.search(r"^value: .*\badd\b", wrong.stdout, re.MULTILINE)
    assert "add/forward/float32" in wrong.stdout


@pytest.mark.nightly
def test_four_processes_share_a_cache(mock, tmp_path):
    script = "assert torch.equal((a + b * 3).cpu(), x + y * 3)\nprint(sorted(source for _, source in graphs()))"
    command = (sys.executable, "-c", SCRIPT + script)
    environment = ["env", f"MYBACKEND_GRAPH_CACHE={tmp_path}", "TORCH_DEVICE_BACKEND_AUTOLOAD=0", f"PYTHONPATH={mock}"]
    cold = [subprocess.Popen([*environment, *command], stdout=subprocess.PIPE) for _ in range(4)]
    assert all(each.wait(timeout=600) == 0 for each in cold)
    folder = tmp_path / "torch_mybackend/graphs"
    files = sorted(folder.iterdir())
    assert len(files) == 2 and not any(file.name.startswith(".") for file in files)
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['disk', 'disk']\n"
    files[0].write_bytes(files[0].read_bytes()[:-1])
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['compiler', 'disk']\n"
    with (mock / "torch_mybackend/_graph/trace.py").open("a") as source:  # as `generate` may rewrite it
        source.write("\n")
    assert said(mock, script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == "['compiler', 'compiler']\n"


COMPILED = """
torch._dynamo.reset()
from torch_mybackend._graph.compiled import compile_graph
def function(x, y): return torch.exp(x + y) * y - x
compiled = torch.compile(function, backend=compile_graph)
"""


def test_torch_compile_gives_the_compiler_what_it_takes(session, tmp_path):
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
    first = session(script, MYBACKEND_GRAPH_CACHE=folder).stdout
    assert "torch.compile: aten.mul.Tensor to aten.sub.Tensor, 2 operators" in first
    assert "'aten::exp.out'" in first
    assert "'compiler')" in first
    again = session(script, MYBACKEND_GRAPH_CACHE=folder).stdout
    assert again == first.replace("'compiler')", "'disk')")


RUN_COMPILED = COMPILED + "torch.testing.assert_close(compiled(a, b).cpu(), function(x, y))\nprint(graphs(), refused())"


def test_torch_compile_and_faults(session):
    assert "Tensor-likes are not close" in session(RUN_COMPILED, check=False, MOCK_FAULT="wrong").stderr
    failed = session(RUN_COMPILED, MOCK_FAULT="error")
    assert "('torch.compile: aten.mul.Tensor to aten.sub.Tensor, 2 operators', 'compile error', 1)" in failed.stdout
    options = COMPILED + "torch.compile(function, backend=compile_graph, options={'level': 3})(a, b)"
    assert "takes no options, and got ['options']" in session(options, check=False).stderr


@pytest.mark.nightly
def test_torch_compile_and_the_fallback_that_a_user_asks_for(mock):
    assert said(mock, RUN_COMPILED, MYBACKEND_FALLBACK="copy").stdout == "[] []\n"
    none = said(mock, RUN_COMPILED, check=False, MYBACKEND_FALLBACK="none").stderr
    assert "aten::exp.out is not run by the graph compiler of mybackend (operator: aten.exp.default)" in none


def test_a_compilation_is_on_the_profilers_timeline(session):
    script = """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    a + b
    a + b
print([(row.key, row.count) for row in profile.key_averages() if "compile" in row.key])
"""
    name = "compile aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3])"
    assert session(script).stdout == f"[('{name}', 1)]\n"


def test_refused_calls_keep_no_tensor(session):
    """Whatever refuses them: the schema, the compiler, the compiler's failure; and a part of a graph of torch.compile."""
    script = """
import gc, os
from torch_mybackend._graph.compiled import compile_graph
compiled = torch.compile(lambda p: (p + p[0]) * p[1], backend=compile_graph)
def step():
    p = torch.rand(64, 64).to("mybackend").requires_grad_()
    torch.nn.functional.dropout(p, 0.5).sum().backward()
    torch.exp(p), p.detach().double() + 1, compiled(p.detach())
    os.environ["MOCK_FAULT"] = "error"
    p + 1
    os.environ["MOCK_FAULT"] = ""
for n in range(3):
    step()
gc.collect(), gc.disable()
before, calls = api.memory_allocated(), sum(row[2] for row in refused())
for n in range(30):
    step()
gc.enable()
print(api.memory_allocated() - before, sorted({row[1] for row in refused()}))
assert sum(row[2] for row in refused()) >= calls + 30 * 4
assert any(row[0].startswith("torch.compile") for row in refused()), refused()
"""
    assert session(script).stdout == "0 ['compile error', 'dtype', 'operator', 'shape']\n"


def test_a_compiler_that_hangs_keeps_no_tensor(session):
    script = """
import os, time
before = api.memory_allocated()
p = torch.rand(64, 64).to("mybackend")
p + p
del p
assert api.memory_allocated() == before
print(refused())
os.environ["MOCK_FAULT"] = ""
while not graphs():
    time.sleep(0.01)
"""
    done = session(script, MOCK_FAULT="hang", MYBACKEND_COMPILE_SECONDS="0.5")
    assert done.stdout == "[('aten::add.out', 'time limit', 1)]\n"


SETTINGS = """
from torch_mybackend._graph import set_settings
def deterministic(on, warn_only=False): return lambda: torch.use_deterministic_algorithms(on, warn_only=warn_only)
def fill(on): return lambda: setattr(torch.utils.deterministic, "fill_uninitialized_memory", on)
def precision(word): return lambda: torch.set_float32_matmul_precision(word)
"""


def test_each_setting_has_plans_and_files_of_its_own(session, tmp_path):
    script = """
changes = {
    "default dtype": [lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)],
    "deterministic": [deterministic(True), deterministic(False)],
    "warn only": [deterministic(True, True), deterministic(False)],
    "fill": [fill(False), fill(True)],
    "high": [precision("high"), precision("highest")],
    "medium": [precision("medium"), precision("highest")],
    "port": [lambda: set_settings(rounding="up"), set_settings],
    "port, another value": [lambda: set_settings(rounding="down"), set_settings],
}
def call():
    assert torch.equal((a + b).cpu(), x + y)
precision("highest")()  # not the same as a precision that nobody has set
call(), call()
assert len(asked) == len(graphs()) == 1
for word, (change, back) in changes.items():
    asked.clear(), api.reset_compilations()
    change()
    call(), call()
    assert len(asked) == len(graphs()) == 1 and graphs()[0][1] == "compiler", (word, asked, graphs())
    back()
    call()
    assert len(asked) == 1, word
"""
    session(ASKED + SETTINGS + script, MYBACKEND_GRAPH_CACHE=str(tmp_path))


def test_the_default_dtype_changes_a_results_dtype(session, tmp_path):
    """By torch.compile, too, whose code is the same for both. In one process, and for one that finds the files of the first."""
    script = """
from torch_mybackend._graph.compiled import compile_graph
compiled = torch.compile(lambda p: p / p, backend=compile_graph)
z = torch.arange(1, 7)
c = z.to("mybackend")
for dtype in (torch.float32, torch.float64, torch.float32):
    torch.set_default_dtype(dtype)
    for result in (c / c, compiled(c)):
        assert result.dtype == dtype and torch.equal(result.cpu(), z / z), (dtype, result)
assert refused() == [], refused()
print([source for _, source in graphs()])
"""
    assert session(script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == f"{['compiler'] * 4}\n"
    assert session(script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout == f"{['disk'] * 4}\n"


def test_only_our_own_files_are_removed(session, tmp_path):
    graphs = tmp_path / "torch_mybackend/graphs"
    graphs.mkdir(parents=True)
    theirs = [
        tmp_path / "notes.txt",
        tmp_path / ("0" * 64),
        graphs / "thesis.tex",
        graphs / ".hidden",
        graphs / ("0" * 63),
    ]
    fresh, abandoned = (graphs / f".{digit * 64}.abc123_x" for digit in "12")
    for file in [*theirs, fresh, abandoned]:
        file.touch()
    for file in [*theirs, abandoned]:
        os.utime(file, (1, 1))
    session("a + b, a * b, a - b", MYBACKEND_GRAPH_CACHE=str(tmp_path), MYBACKEND_GRAPH_CACHE_FILES="1")
    left = set(tmp_path.rglob("*")) - {graphs, graphs.parent}
    assert set(theirs) | {fresh} < left
    assert len(left) == len(theirs) + 2


def test_a_file_that_cannot_be_written_leaves_nothing(session, tmp_path):
    script = """
import os
def full(source, target):
    raise OSError("No space left on device")
os.replace, real = full, os.replace
try:
    assert torch.equal((a + b).cpu(), x + y) and torch.equal((a + b).cpu(), x + y)
finally:
    os.replace = real
print(len(graphs()), refused())
"""
    done = session(script, MYBACKEND_GRAPH_CACHE=str(tmp_path))
    assert done.stdout == "1 []\n"
    assert done.stderr.count("compiled graphs are not kept: No space left on device") == 1
    assert list((tmp_path / "torch_mybackend/graphs").iterdir()) == []


def test_a_buffer_begins_anywhere_in_its_allocation(session):
    """As with an allocator that divides allocations: the mock finds the allocation by its address, and checks the range."""
    script = """
block = torch.zeros(1024, device="mybackend")
def inside(offset, of):
    storage = torch._C._construct_storage_from_data_pointer(block.data_ptr() + offset, block.device, 512)
    return torch.empty(0, device="mybackend").set_(storage, 1, (2, 3)).copy_(of)
c, d, out = inside(0, x), inside(512, y), inside(1024, x)
torch.add(c, d, out=out)
assert torch.equal(out.cpu(), x + y) and torch.equal(block.cpu()[257:263].view(2, 3), x + y)
print(len(graphs()), refused())
"""
    assert session(script).stdout == "1 []\n"


def test_an_input_may_stay_a_lazy_copy(session):
    script = """
c = torch._lazy_clone(a)
assert torch._C._is_cow_tensor(a) and torch._C._is_cow_tensor(c)
assert torch.equal((c * a + b).cpu(), x * x + y)
assert torch._C._is_cow_tensor(a) and torch._C._is_cow_tensor(c)
c += b
assert torch.equal(c.cpu(), x + y) and torch.equal(a.cpu(), x) and not torch._C._is_cow_tensor(c)
torch.mul(a, b, out=a)
assert torch.equal(c.cpu(), x + y) and torch.equal(a.cpu(), x * y)
print(refused())
"""
    assert session(script).stdout == "[]\n"


def test_one_bad_moment_is_not_for_ever(session, tmp_path):
    script = """
import os, pathlib
from torch_mybackend._graph import executables
folder = pathlib.Path(os.environ["MYBACKEND_GRAPH_CACHE"]) / "torch_mybackend/graphs"
def run(build, fault=""):
    os.environ.update(MOCK_BUILD=build, MOCK_FAULT=fault)
    assert torch.equal((a + b).cpu(), x + y)
    return len(graphs()), sum(row[2] for row in refused()), len(list(folder.iterdir()) if folder.exists() else [])
for fault in ({"build": "memory"}, {"build": "", "fault": "error"}):
    # After a failure the compiler is asked again after 1 more call, then after 2, 4, and so on.
    print([run(**fault) for n in range(3)], [run("") for n in range(4)], refused())
    print(run("memory"))
    executables.forget(), api.reset_compilations()
    print([run("memory"), run(""), run("")], graphs())  # the file is as good as before
    for file in folder.iterdir():
        file.unlink()
    executables.forget(), api.reset_compilations()
"""
    memory, warm, again, error, *rest = session(script, MYBACKEND_GRAPH_CACHE=str(tmp_path)).stdout.splitlines()
    tries = "[(0, 1, 0), (0, 2, 0), (0, 3, 0)] [(0, 4, 0), (0, 5, 0), (1, 5, 1), (1, 5, 1)] "
    assert memory == error == tries + "[('aten::add.out', 'compile error', 5)]"
    assert warm == rest[0] == "(1, 5, 1)"
    graph = "('aten::add.out(float32[2, 3], float32[2, 3], 1, float32[2, 3])', 'disk')"
    assert again == rest[1] == f"[(0, 1, 1), (0, 2, 1), (1, 2, 1)] [{graph}]"


def test_what_the_device_says_is_not_its_own(session, tmp_path):
    """A file is compiled again. If that is not an executable either, the operator always runs on the CPU."""
    script = """
import os
from torch_mybackend._graph import executables
a + b
executables.forget(), api.reset_compilations()
os.environ["MOCK_BUILD"] = "other"
for n in range(5):
    assert torch.equal((a + b).cpu(), x + y)
os.environ["MOCK_BUILD"] = ""
a + b
print(graphs(), refused())
"""
    done = session(script, MYBACKEND_GRAPH_CACHE=str(tmp_path))
    assert done.stdout == "[] [('aten::add.out', 'compile error', 6)]\n"
    assert done.stderr.count("not an executable; it runs on the CPU") == 1
    assert list((tmp_path / "torch_mybackend/graphs").iterdir()) == []


def test_an_interrupt_is_for_the_thread_that_it_interrupts(session):
    script = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with the signal ignored
results = []
def wait():
    results.append("waits")
    try:
        results.append((a + b).cpu())
    except BaseException as error:
        results.append(repr(error))
def interrupt():
    while not any(thread.name.startswith("compile ") for thread in threading.enumerate()):
        time.sleep(0.01)
    other.start()
    while not results:
        time.sleep(0.01)
    time.sleep(0.3)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
other, killer = threading.Thread(target=wait), threading.Thread(target=interrupt)
killer.start()
try:
    a + b
except KeyboardInterrupt:
    print("interrupted")
killer.join()
os.environ["MOCK_FAULT"] = ""
other.join()
assert torch.equal(results[1], x + y), results
print(len(graphs()), refused())
"""
    assert session(script, MOCK_FAULT="hang").stdout == "interrupted\n1 []\n"


def test_a_handler_of_the_processs_end_may_call_operators(mock):
    """It was registered before the package's, so it runs after it: no thread may trace a graph by then."""
    first = """
import atexit
def end():
    print(torch.equal((a + b).cpu(), x + y), refused())
atexit.register(end)
"""
    script = first + SCRIPT
    environment = {"MYBACKEND_GRAPH_CACHE": "off", "MYBACKEND_COMPILE_SECONDS": "20"}
    done = run(sys.executable, "-c", script, cwd=mock, **environment)
    assert done.stdout == "True [('aten::add.out', 'compiler', 1)]\n"


def test_graphs_while_torch_compile_traces_on_another_thread(session):
    """Neither thread disturbs the other, while it traces or afterwards."""
    script = """
import threading
from torch_mybackend._graph.compiled import compile_graph
failures = []
def compile():
    try:
        p, q = torch.rand(3, 4, requires_grad=True), torch.rand(3, 4)
        for n in range(8):
            space = {"torch": torch}
            exec("def function(p, q): return (torch.nn.functional.gelu(p + q) * q - p).sum()", space)
            torch.compile(space["function"], backend="aot_eager")(p, q).backward()
    except BaseException as error:
        failures.append(repr(error))
warm = torch.compile(lambda p: p + 1, backend="eager")
warm(x)
thread = threading.Thread(target=compile)
thread.start()
columns = 0
while thread.is_alive():
    columns += 1
    p = torch.rand(2, columns)
    assert torch.equal((p.to("mybackend") * 3 + p.to("mybackend")).cpu(), p * 3 + p)
assert not failures, failures
assert refused() == [], refused()
assert len(graphs()) == 2 * columns
torch.compile(lambda p: p + 2, backend="eager")(x)
"""
    session(script)


def test_answers_are_kept_in_one_place(session):
    """C++ has them, refusals too, so neither a warm call nor one that is refused permanently asks Python. The oldest go first."""
    script = """
for _ in range(3):
    torch.mul(a, b), torch.mul(a.double(), b), torch.bernoulli(a.abs_().clamp_(0, 1)), torch.mul(a, 1e300)
assert ("aten::mul.out", "dtype", 6) in refused(), refused()
assert any(row[0].startswith("aten::bernoulli") and row[1:] == ("operator", 3) for row in refused()), refused()
assert asked.count("aten::mul") == 2 and "aten::bernoulli" not in asked, asked
why = _C._Rejection("operator", "for a test", True)
keys = [_C._key_of(f"graph {n}", [a, n, 0.5, True, None]) for n in range(8193)]
for key in keys:
    _C._keep_answer(key, why)
assert [str(_C._find_answer(key)) for key in (keys[0], keys[1], keys[-1])] == ["None", str(why), str(why)]
asked.clear()
torch.mul(a, b)
assert asked == ["aten::mul"], asked  # it was the oldest
"""
    session(ASKED + script)


def test_one_key_for_memory_and_disk(session):
    """Equal keys mean the same file; what differs in an argument differs in the file's name."""
    script = """
def key(*arguments, name="graph"):
    return _C._key_of(name, arguments)
same = [key(a, 1), key(a + 1, 1), key(x.to("mybackend"), 1)]
assert len({each.words for each in same}) == len({each.text for each in same}) == 1
others = [key(a, 1, name="other"), key(a, 2), key(a, 1.0), key(a, True), key(a, "1"), key(a.t(), 1), key(a.int(), 1), key(1, a), key(a)]
others += [key(a, -0.0), key(a, 0.0), key(a, torch.tensor(1.0)), key(a, torch.tensor(1))]
for attribute in ("words", "text"):
    assert len({getattr(each, attribute) for each in same + others}) == 1 + len(others), attribute
torch.set_default_dtype(torch.float64)
assert key(a, 1).text != same[0].text and key(a, 1).words != same[0].words
for bad in (key(1), key(a, x), key(a, 1e300)):
    print(bad)
"""
    assert session(ASKED + script).stdout == (
        "operator: no tensor of the device among its arguments\n"
        "operator: an argument on cpu\n"
        "dtype: a number that float32 does not have\n"
    )
