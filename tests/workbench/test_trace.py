"""`openreg_gen.trace` on the CPU: the tree of events, what it answers, and what is refused."""

import json
import re
from pathlib import Path

import pytest
import torch
from openreg_gen import protocol
from openreg_gen.device import DeviceError
from openreg_gen.trace import code, fold, keys, page, terminal, words
from openreg_gen.trace.events import Event
from openreg_gen.trace.make import trace


def traced(text, most=1000, grad=False, **shapes):
    given = {name: code.parse_shape(f"{name}={shape}")[1] for name, shape in shapes.items()}
    return trace(code.expression(text, "cpu", given, grad), "cpu", protocol.Workbench(), most)


def of_kind(made, kind):
    return [event for event in made.walk() if event.kind == kind]


def operator(made, name):
    return next(event for event in made.walk() if event.kind == "operator" and event.name == name)


def answer(made, question):
    return next(answer for answer in made.answers if answer.question.startswith(question))


@pytest.fixture
def run(run_python):
    """The tool as a process; `code`: the exit code that it has to have."""
    return lambda *words, code=0: run_python("-m", "openreg_gen.trace", *words, code=code)


# ---------------------------------------------------------------------------------------------------- calls and keys


def test_a_call_has_the_users_text_and_its_operator():
    made = traced("torch.relu(a + b)")
    add, relu = of_kind(made, "call")
    assert (add.name, add.place.text, add.place.line) == ("torch.Tensor.add", "a + b", 1)
    assert (relu.name, relu.place.text) == ("torch.relu", "torch.relu(a + b)")
    assert [event.name for event in add.children if event.kind == "operator"] == ["aten::add.Tensor"]


def test_the_keys_are_in_the_dispatchers_order_with_kernels():
    steps = operator(traced("a + b"), "aten::add.Tensor").keys
    assert [step.key for step in steps] == ["AutogradCPU", "ADInplaceOrView", "CPU"]
    assert [step.fate for step in steps] == ["runs", "skipped", "runs"]
    assert steps[0].kernel == "autograd kernel" and re.search(r"VariableType_\d+\.cpp$", steps[0].file)
    assert steps[-1].file.endswith(".cpp") and steps[-1].line > 0


def test_autocast_is_a_key_where_it_is_on():
    assert not [key for key in operator(traced("a @ b"), "aten::mm").keys if key.key == "AutocastCPU"]
    # the composite matmul is above autocast's kernel of mm, which casts and calls mm again
    made = traced("with torch.autocast('cpu', dtype=torch.bfloat16): a @ b")
    found = [event for event in made.walk() if event.keys and event.keys[0].key == "AutocastCPU"]
    assert found and found[0].keys[0].fate == "runs" and "autocast" in found[0].keys[0].file


def test_a_composite_stops_at_autograds_key_and_its_parts_go_on():
    made = traced("a @ b")
    matmul = operator(made, "aten::matmul")
    assert [(step.key, step.kernel) for step in matmul.keys] == [("AutogradCPU", "math kernel")]
    assert "aten::mm" in [event.name for event in matmul.children]


def test_a_factory_goes_through_backend_select():
    steps = operator(traced("torch.empty(3)"), "aten::empty.memory_format").keys
    assert [step.key for step in steps if step.fate == "runs"] == ["BackendSelect", "CPU"]


def test_tables_of_an_operator_that_is_not_there_are_empty():
    assert keys.Tables().of("aten::no_such_operator") == {}


def test_an_operator_is_one_event_not_one_per_source():
    names = [event.name for event in of_kind(traced("a + b"), "operator")]
    assert names == ["aten::add.Tensor"]


# ------------------------------------------------------------------------------------------- tensors, memory and waits


def test_views_and_writes_say_what_they_alias():
    made = traced("x = a.t(); y = x.relu(); y.add_(b)")
    assert "the result is a view of `self` (a)" in operator(made, "aten::t").notes
    assert operator(made, "aten::relu").notes == []
    assert any(note.startswith("writes into `self`") for note in operator(made, "aten::add_.Tensor").notes)


def test_tensors_have_names_shapes_and_storages():
    made = traced("(a + b) * a", a="2x3", b="3")
    add, mul = operator(made, "aten::add.Tensor"), operator(made, "aten::mul.Tensor")
    assert [(tensor.label, tensor.shape) for tensor in add.inputs] == [("a", (2, 3)), ("b", (3,))]
    assert add.outputs[0].storage == mul.inputs[0].storage != add.inputs[0].storage


def test_allocations_have_bytes():
    (made,) = [event for event in operator(traced("a + b"), "aten::add.Tensor").children if event.kind == "allocation"]
    assert made.fields == {"bytes": 64, "device": "cpu"}


def test_item_waits_for_a_value():
    made = traced("a.sum().item()")
    assert "waits until" in operator(made, "aten::_local_scalar_dense").fields["wait"]


def test_synchronize_is_a_wait(tmp_path):
    made = traced("torch.cpu.synchronize()")
    assert [event.name for event in made.events] == ["synchronize"] and "wait" in made.events[0].fields


def test_ranges_of_record_function_are_in_the_tree():
    made = traced("with torch.profiler.record_function('mine'): a + b")
    (found,) = of_kind(made, "range")
    assert found.name == "mine" and found.children[0].name == "torch.Tensor.add"


# ------------------------------------------------------------------------------------------------------------ gradients


def test_a_gradient_knows_who_made_it():
    made = traced("(a @ b).relu().sum().backward()")
    backward = {event.name: event for event in of_kind(made, "backward")}
    assert backward["MmBackward0"].fields["forward"]["name"] == "aten::mm"
    assert backward["MmBackward0"].place.text == "a @ b"
    assert backward["ReluBackward0"].place.text == "(a @ b).relu()"
    text = answer(made, "Which operator computed this gradient?").text
    assert [line.partition(" ")[0] for line in text] == ["a.grad", "b.grad"]
    assert "MmBackward0, the backward of aten::mm in `a @ b`" in text[0]


def test_a_leaf_that_is_used_twice_adds_up_two_gradients():
    (text,) = answer(traced("(a * a.exp()).sum().backward()"), "Which operator computed").text
    assert "adds up" in text and "MulBackward0" in text and "ExpBackward0" in text


def test_parameters_have_the_names_of_their_module():
    made = traced("m = nn.Sequential(nn.Linear(4, 2)); m(a).sum().backward()")
    assert any(line.startswith("0.weight.grad float32[2, 4]") for line in answer(made, "Which operator computed").text)


# --------------------------------------------------------------------------------------------------------------- errors

STRUCTURED = """
import torch
lib = torch.library.Library("{name}", "DEF")
lib.define("add(Tensor a, Tensor b) -> Tensor")
lib.define("add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)")
lib.impl("add", lambda a, b: torch.ops.{name}.add.out(a, b, out=torch.empty_like(a)), "CompositeExplicitAutograd")
x = torch.ones(3)
torch.ops.{name}.add(x, x)
"""


def test_an_error_that_names_the_out_form_is_explained(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(STRUCTURED.format(name="openreg_gen_trace_shop"))
    made = trace(code.script(script, []), "cpu", protocol.Workbench(), 1000)
    assert made.error["type"] == "NotImplementedError"
    why = answer(made, "Why does the error name openreg_gen_trace_shop::add.out?").text
    assert "train.py:8" in why[0] and "which calls openreg_gen_trace_shop::add.out" in why[1]
    assert "has no kernel for CPU and no fallback" in why[2]
    failed = operator(made, "openreg_gen_trace_shop::add.out")
    assert [(step.key, step.fate) for step in failed.keys] == [("CPU", "missing")]


def test_an_error_without_an_operators_name_says_where_it_comes_from():
    made = traced("a + b.reshape(3)")
    text = answer(made, "Where does the RuntimeError come from?").text
    assert text[0] == "your code calls `b.reshape(3)`" and text[-1].startswith("aten::view has a kernel for CPU")


def test_an_error_of_the_users_own_code_is_not_an_operators():
    assert (
        "outside of PyTorch's operators" in answer(traced("a + b, 1 / 0"), "Where does the ZeroDivisionError").text[0]
    )


def test_a_script_that_exits_with_an_error_fails(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import sys, torch\ntorch.zeros(2)\nsys.exit(3)\n")
    made = trace(code.script(script, []), "cpu", protocol.Workbench(), 1000)
    assert made.error == {"type": "ScriptExit", "text": "the script ended with exit code 3"}
    assert "train.py:3" in answer(made, "Where does the ScriptExit come from?").text[0]


def test_a_structured_operator_without_a_kernel_of_its_own_delegates_to_its_out_form():
    """SparseCsrMeta and its like have PyTorch's default kernel; a key set on meta tensors can't be traced, a table can."""
    (step,) = keys.Tables().path("aten::add.Tensor", ["PrivateUse1"])
    assert step.kernel == "default backend kernel" and "CompositeExplicitAutogradNonFunctional" in step.file
    assert keys.Tables().path("aten::add.out", ["PrivateUse2"])[0].fate == "missing"


# ------------------------------------------------------------------------------------------------ long traces, rendering


def test_rounds_of_a_loop_are_folded():
    made = traced("for i in range(10): x = (a + b).relu()")
    repeat = max(of_kind(made, "repeat"), key=lambda event: event.fields["times"])
    assert repeat.fields["times"] >= 8
    assert [event.name for event in repeat.children if event.kind == "call"] == [
        "torch.Tensor.add",
        "torch.Tensor.relu",
    ]


def test_folding_takes_the_longest_rounds():
    events = [Event("call", name) for name in "xababababy"]
    assert [(event.name, event.fields.get("times")) for event in fold.fold(events)] == [
        ("x", None),
        ("", 4),
        ("y", None),
    ]


def test_the_code_is_stopped_after_the_limit():
    made = traced("for i in range(100): a + b", most=7)
    assert made.error is None and any("stopped after 7 calls" in note for note in made.notes)
    assert sum(event.fields.get("times", 0) for event in made.walk()) <= 7


def test_json_has_a_schema_and_unique_ids():
    row = json.loads(json.dumps(traced("(a @ b).sum().backward()").json()))
    assert row["schema"] == 1 and row["device"] == "cpu" and row["torch"] == torch.__version__

    def ids(events):
        return [number for event in events for number in (event["id"], *ids(event.get("children", [])))]

    found = ids(row["events"])
    assert len(found) == len(set(found)) and row["sources"] == {"<expression>": "(a @ b).sum().backward()"}


def test_the_page_is_self_contained():
    text = page.render(traced("torch.relu(a + b), '</script>'").json())
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text) and "/*DATA*/null" not in text
    assert text.count("</script>") == text.count("<script") and "aten::add.Tensor" in text


def test_the_terminal_hides_what_is_skipped_and_says_so():
    made = traced("a + b")
    short = "\n".join(terminal.lines(made, everything=False, tree=True, colours=False))
    long = "\n".join(terminal.lines(made, everything=True, tree=True, colours=False))
    assert "skips ADInplaceOrView" in short and "VariableFallbackKernel" not in short
    assert "VariableFallbackKernel" in long and "\033" not in short
    assert "\033" in "".join(terminal.lines(made, everything=False, tree=True, colours=True))


@pytest.mark.parametrize(
    ("code", "form", "says"),
    [
        ("a + b", "aten::add.Tensor", "allocates the result and calls"),
        ("a.add_(b)", "aten::add_.Tensor", "passes self as the result to"),
    ],
)
def test_what_a_default_kernel_does_with_the_result(code, form, says):
    made = traced(code)
    event = operator(made, form)
    event.fields["delegate"] = "aten::add.out"  # on the CPU no operator has such a kernel
    text = "\n".join(terminal.lines(made, everything=False, tree=True, colours=False))
    assert f"structured: the default kernel {says} aten::add.out" in text


def test_an_error_is_cut_to_its_first_sentence():
    assert words.first_sentence("Could not run 'a.b'. This could be\nmore") == "Could not run 'a.b'"


# ----------------------------------------------------------------------------------------------------- the tool itself


def test_a_script_gets_its_arguments(run, tmp_path):
    (tmp_path / "helper.py").write_text("import torch\ndef twice(x):\n    return x + x\n")
    (tmp_path / "main.py").write_text(
        "import sys, torch\nfrom helper import twice\nprint(sys.argv[1:], __name__)\ntwice(torch.ones(int(sys.argv[1])))\n"
    )
    files = (tmp_path / "out.html", tmp_path / "out.json")
    done = run("main.py", "--device", "cpu", f"--html={files[0]}", f"--json={files[1]}", "--", "3", "--device")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['3', '--device'] __main__\n")
    assert "x + x  torch.Tensor.add  helper.py:3" in done.stdout and done.stderr == ""
    assert "aten::add.Tensor" in files[0].read_text()
    assert {Path(file).name for file in json.loads(files[1].read_text())["sources"]} == {"main.py", "helper.py"}


def test_a_syntax_error_has_a_caret(run):
    done = run("torch.relu(a +", "--device", "cpu", code=2)
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("openreg-gen: error[E0574]: <expression>:1: ") and re.search(
        r"^ +\^$", done.stderr, re.M
    )


def test_a_failing_call_is_exit_1(run):
    done = run("a + b.reshape(3)", "--device", "cpu", code=1)
    assert "failed: shape '[3]' is invalid for input of size 16" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["nothing_here.py", "--device", "cpu"], 2, "nothing_here.py: No such file"),
        (["a + b", "--device", "cpu", "--shape", "c=2x3"], 2, "no free name 'c'"),
        (["a + b", "--device", "cpu", "--", "more"], 2, "takes no arguments"),
        (["a + b", "--device", "no_such_device"], 3, "no device 'no_such_device'"),
    ],
)
def test_bad_input_is_refused_in_words(run, words, status, said):
    done = run(*words, code=status)
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("relu(a)", "'relu' is called", "'torch.relu(a)' --device cpu"),
        ("x = gelu(a)\ny = abs(gelu(x))", "'gelu' is called", "'x = F.gelu(a)\ny = abs(F.gelu(x))' --device cpu"),
        ("gelu(relu(a))", "'gelu', 'relu' are called", "'F.gelu(torch.relu(a))' --device cpu"),
        ("Linear(4, 4)(a)", "'Linear' is called", "'nn.Linear(4, 4)(a)' --device cpu"),
        ("add_(a, b)", "'add_' is called", "'torch.Tensor.add_(a, b)' --device cpu"),
        ("model(relu(a))", "'model', 'relu' are called", "define model in the code, or trace a script that does"),
        ("math.sqrt(a.sum())", "'math' is a free name", "'import math; math.sqrt(a.sum())' --device cpu"),
        ("a + np.ones(4)", "'np' is a free name", "'import numpy as np; a + np.ones(4)' --device cpu"),
        ("thing.nowhere(a)", "no attribute 'nowhere'", "define thing in the code, or trace a script that does"),
    ],
)
def test_a_free_name_that_is_used_as_no_tensor_is_refused_with_the_next_command(text, said, hint):
    with pytest.raises(code.CodeError, match=re.escape(said)) as error:
        traced(text)
    assert error.value.hint.endswith(hint)


def test_a_tensor_may_be_named_as_a_function_is():
    assert traced("relu + a.relu() + time.sum()").error is None


def test_code_that_calls_no_operator_gets_an_example():
    assert any("such as 'torch.relu(a)'" in note for note in traced("torch.relu").notes)


@pytest.mark.parametrize("word", ["2xx3", "a=", "2x-3", "a b=2"])
def test_bad_shapes_are_refused(word):
    with pytest.raises(code.CodeError, match="is not a shape"):
        code.parse_shape(word)


def test_a_dtype_that_is_none_is_named():
    with pytest.raises(code.CodeError, match="PyTorch has no dtype float99"):
        code.parse_shape("a=2:float99")


def test_shapes_have_names_and_dtypes():
    assert code.parse_shape("i=2x3:int64") == ("i", code.Shape((2, 3), torch.int64))
    assert code.parse_shape("scalar") == ("", code.Shape((), torch.float32))


def test_free_names_are_those_that_nothing_defines():
    text = "def f(p): return p + a\nfor i in range(3): f(b)\nimport math\n[q for q in math.e]"
    assert code.free_names(code.ast.parse(text)) == ["a", "b"]


def test_a_device_that_holds_no_tensor_is_no_fault_of_the_trace():
    with pytest.raises(DeviceError, match=r"a tensor float32\[4, 4\] can't be copied to device 'xpu': "):
        code.expression("a + b", "xpu", {}, False)


# ---------------------------------------------------------------------------------------------------- kernels in Python

PYTHON_KERNELS = """
import functools, json, sys
import openreg_gen.trace
import torch
from openreg_gen.audit import dispatcher

def plain(x):
    return x

def logged(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)
    return call

@logged
def wrapped(x):
    return x

class Kernel:
    def __call__(self, x):
        return x

library = torch.library.Library("python_places", "DEF")
for name in ("plain", "wrapped", "partial", "object", "builtin"):
    library.define(f"{name}(Tensor x) -> Tensor")
library.impl("plain", plain, "CPU")
library.impl("wrapped", wrapped, "CPU")
library.impl("partial", functools.partial(lambda number, x: x, 1), "CPU")
library.impl("object", Kernel(), "CPU")
library.impl("builtin", torch.neg, "CPU")
rows = dispatcher.registrations("cpu", [f"python_places::{name}" for name in ("plain", "wrapped", "partial", "object", "builtin")])
print(json.dumps([[each.place.file, each.place.line] for each in rows]))
"""


def test_places_of_kernels_in_python(run_python, tmp_path):
    (tmp_path / "kernels.py").write_text(PYTHON_KERNELS)
    found = json.loads(run_python("kernels.py").stdout)
    assert {Path(file).name for file, _ in found} == {"kernels.py"}
    lines = PYTHON_KERNELS.splitlines()
    assert [lines[line - 1].strip() for _, line in found] == [
        "def plain(x):",
        "@logged",
        'library.impl("partial", functools.partial(lambda number, x: x, 1), "CPU")',
        "def __call__(self, x):",
        'library.impl("builtin", torch.neg, "CPU")',
    ]


def test_an_operator_inside_of_a_composite_is_shown_with_its_kernel():
    """Backends that report no allocations and no kernels to the profiler have nothing else to show."""
    made = traced("a @ b")
    mm = operator(made, "aten::mm")
    assert mm.fields["computes"] is True and "computes" not in operator(made, "aten::matmul").fields
    mm.children.clear()
    assert terminal.matters(mm)
    view = operator(traced("a.t()"), "aten::t")
    assert not any(terminal.matters(event) for event in view.children)
