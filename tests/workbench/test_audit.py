"""The audit: on a backend with planted holes, each of which it finds and names; on the CPU; on a backend without holes."""

import json
import os
import subprocess
import sys

import pytest
from handmade import build
from openreg_gen.audit import document

WORKBENCH = build.FOLDER.parents[2] / "generator/workbench"
MINUTES = 900  # seconds: for a machine that does much else


def run_audit(*words, env=None, code=0):
    command = [sys.executable, "-m", "openreg_gen.audit", *words]
    environment = env or {**os.environ, "PYTHONPATH": str(WORKBENCH)}
    outcome = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=MINUTES)
    assert outcome.returncode == code, outcome.stderr
    return outcome


@pytest.fixture(scope="module")
def holes(tmp_path_factory):
    """The document of the backend written by hand."""
    file = tmp_path_factory.mktemp("audit") / "handmade.json"
    run_audit(
        "--device", "handmade", "--import", "handmade", "--timeout", "20", "--json", str(file), env=build.environment()
    )
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def judged(holes, openreg_gen, tmp_path_factory):
    """The command's report on that document."""
    file = tmp_path_factory.mktemp("judged") / "handmade.json"
    file.write_text(json.dumps(holes))
    return json.loads(openreg_gen("audit", "--saved", file, "--json").stdout)


@pytest.fixture(scope="module")
def cpu_run(tmp_path_factory):
    """The document of the CPU, and what was printed meanwhile."""
    file = tmp_path_factory.mktemp("audit") / "cpu.json"
    done = run_audit("--device", "cpu", "--no-samples", "--quiet", "--json", str(file))
    return json.loads(file.read_text()), done.stderr


@pytest.fixture(scope="module")
def of_cpu(cpu_run):
    return cpu_run[0]


def interfaces(document):
    return {row["name"]: row for row in document["interfaces"]}


def served(document):
    return {op: (how, document["files"][file] if file >= 0 else "", line) for op, how, file, line in document["ops"]}


def line_of(text):
    lines = build.SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_kernels_have_their_file_and_line(holes):
    how, file, line = served(holes)["as_strided"]
    assert how == "kernel" and file.endswith("handmade.cpp")
    assert line == line_of("TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)")
    named = {row["op"]: row for row in holes["registrations"] if row["op"].startswith("aten::")}
    assert named["aten::view"] == {
        "op": "aten::view",
        "key": "PrivateUse1",
        "at": [holes["files"].index(file), line],
        "kind": "typed",
        "active": True,
    }


def test_no_hooks_and_no_generator(holes):
    found = interfaces(holes)
    for name in ("hooks: deviceCount", "Tensor.backward()", "Tensor.pin_memory()", "UntypedStorage.resize_()"):
        assert found[name]["verdict"] == "not implemented" and "PrivateUse1Hooks" in found[name]["message"], name
    assert found["torch.Generator(device)"]["verdict"] == "not implemented"
    assert "getNewGenerator" in found["torch.Generator(device)"]["provide"]


def test_no_autocast(holes):
    found = interfaces(holes)
    for name in ("kernels at AutocastPrivateUse1", "torch.autocast(device)"):
        assert found[name]["verdict"] == "not implemented", name
    assert not [row for row in holes["registrations"] if row["key"].startswith("Autocast")]


def test_a_kernel_for_one_dtype(holes):
    (hypot,) = (row for row in holes["dtypes"] if row["op"] == "hypot")
    assert hypot["takes"] == "float32"
    assert hypot["refuses"]["float64"] == "handmade: hypot of Double" and "float16" in hypot["refuses"]
    assert served(holes)["hypot.out"][:2] == ("kernel", served(holes)["view"][1])


def test_a_missing_view_falls_back(holes):
    assert served(holes)["unfold"][0] == "fallback"
    assert served(holes)["unfold"][1].endswith("handmade.cpp")


def test_a_fallback_in_place_of_a_composite(holes):
    assert served(holes)["square"][0] == "boxed" and served(holes)["square_"][0] == "math"


def test_a_crash_and_a_call_without_end(holes):
    found = interfaces(holes)
    assert (
        found["Event.elapsed_time()"]["verdict"] == "crashes" and "SIGABRT" in found["Event.elapsed_time()"]["message"]
    )
    assert found["torch.accelerator.synchronize()"]["verdict"] == "hangs"
    assert found["torch.Event(device): record, query"]["verdict"] == "answers"


def test_answers_that_are_wrong(holes):
    found = interfaces(holes)["a device index out of range"]
    assert found["verdict"] == "wrong" and found["message"] == "made a tensor on handmade:0, which does not exist"


def test_the_command_names_each_fault_with_its_place(judged):
    found = {(each["kind"], each["op"]): each for each in judged["findings"]}
    block = line_of("TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)")
    for kind, op, line in (
        ("fallback hides a composite", "square", block),
        ("some dtypes only", "hypot.out", block),
        ("missing view", "unfold", line_of("TORCH_LIBRARY_IMPL(_, PrivateUse1, m)")),
    ):
        place = found[kind, op]["at"]
        assert place["file"].endswith("handmade.cpp") and place["line"] == line, op
    assert {op for kind, op in found if kind == "some dtypes only"} == {"hypot.out"}
    classes = {op["op"]: op["coverage"] for op in judged["ops"]}
    assert classes["view"] == "native" and classes["hypot"] == "delegate" and classes["mm.out"] == "fallback"
    assert classes["unfold"] == "missing" and classes["_cudnn_rnn"] == "not-for-you"


NOISE = """
import os
from openreg_gen.audit.__main__ import own_output
out = own_output()
print("a backend's greeting", flush=True)
os.write(1, b"and what its C++ prints\\n")
print("{}", file=out, flush=True)
"""


def test_json_stays_json_whatever_a_backend_prints():
    environment = {**os.environ, "PYTHONPATH": str(WORKBENCH), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        [sys.executable, "-c", NOISE], env=environment, capture_output=True, text=True, timeout=MINUTES
    )
    assert done.stdout == "{}\n" and "greeting" in done.stderr and "C++" in done.stderr


def test_operators_wait_for_those_that_errors_name():
    missing = "Could not run 'aten::as_strided' with arguments from the 'PrivateUse1' backend."
    on_cpu = "Could not run 'aten::_thing' with arguments from the 'CPU' backend."
    entries = [(["sum"], missing), (["as_strided"], missing), (["sub"], on_cpu), (["mul"], "a shape that does not fit")]
    calls = [
        ("clone", "float32", missing, "(2,)"),
        ("as_strided", "float32", missing, "(2,)"),
        ("add", "float32", "", ""),
    ]
    found = {(row["op"], row["needs"]) for row in document.of_waits(entries, calls)}
    assert found == {("sum", "as_strided"), ("clone", "as_strided")}


def test_a_dtype_is_refused_if_no_call_takes_it():
    calls = [
        ("add", "float32", "no", "()"),
        ("add", "float32", "", ""),
        ("mul", "int64", "no", "()"),
        ("mul", "int64", "no", "(2,)"),
    ]
    add, mul = document.of_dtypes(calls)
    assert add == {"op": "add", "takes": "float32", "refuses": {}}
    assert mul == {"op": "mul", "takes": "", "refuses": {"int64": "no"}, "shapes": ["()", "(2,)"]}


def test_the_fallback_of_the_key(holes):
    rows = [row for row in holes["fallbacks"] if row["key"] == "PrivateUse1"]
    assert [row["kind"] for row in rows] == ["boxed"]
    assert holes["files"][rows[0]["at"][0]].endswith("handmade.cpp")


def test_the_cpu(of_cpu):
    assert {row["verdict"] for row in of_cpu["interfaces"]} == {"answers", "does not apply"}
    found = served(of_cpu)
    assert found["add.out"][0] == "kernel" and found["reshape"][0] == "math" and found["_cudnn_rnn"][0] == "none"
    assert len(found) > 3000 and of_cpu["schema"] == 1 and of_cpu["format"] == "openreg-gen audit"


def test_it_says_how_far_it_is(cpu_run):
    document, said = cpu_run
    total = len(document["interfaces"])
    first, *lines = said.splitlines()
    assert first == f"audit: calls {total} interfaces of cpu, samples of 0 operators and 0 factories"
    assert lines[-1].startswith(f"audit: {total}/{total} calls, 0 died, ")
    assert 2 < len(lines) < 15  # one line for each tenth


def test_a_whole_backend(device, tmp_path):
    file = tmp_path / "audit.json"
    words = ["--device", device, "--no-samples", "--json", str(file)]
    run_audit(*words)
    document = json.loads(file.read_text())
    holes = [row for row in document["interfaces"] if row["verdict"] not in ("answers", "does not apply")]
    assert holes == []


def test_a_device_that_is_not_there():
    said = run_audit("--device", "nobody", code=3).stderr
    assert (
        said.startswith("openreg-gen: error[E0575]: no device 'nobody'")
        and "\nhint: " in said
        and "Traceback" not in said
    )


def test_a_module_that_is_not_there():
    said = run_audit("--device", "nobody", "--import", "no_such_module", code=3).stderr
    assert said.startswith("openreg-gen: error[E0575]: no_such_module") and "Traceback" not in said


class NeedsCompile:
    """As the placeholder for Inductor in a tree without the component compile."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self()

    def __call__(self, *_):
        raise NotImplementedError("torch.compile needs the component compile: `openreg-gen add component compile`")


@pytest.mark.parametrize("given", [NeedsCompile(), type("Scheduling", (), {}), lambda scheduler: None])
def test_a_placeholder_is_no_answer_of_inductor(monkeypatch, given):
    from openreg_gen.audit import probe
    from openreg_gen.audit.probes import compiling
    from torch._inductor.codegen import common

    monkeypatch.setattr(common, "init_backend_registration", lambda: None)
    monkeypatch.setattr(common, "get_scheduling_for_device", lambda kind: given)
    monkeypatch.setattr(common, "get_wrapper_codegen_for_device", lambda kind: given)
    if not isinstance(given, NeedsCompile):
        assert compiling.inductor("plain") in ("Scheduling", "<lambda>")
        return
    with pytest.raises(NotImplementedError) as error:
        compiling.inductor("plain")
    outcome = probe.judge(error.value)
    assert outcome.verdict == probe.MISSING and "openreg-gen add component compile" in outcome.message


def test_an_object_is_a_device_s_module_too(monkeypatch):
    import torch
    from openreg_gen.audit.probes import module

    monkeypatch.setattr(torch, "thing", object(), raising=False)
    assert module.registered("thing") == "object"


def test_the_profiler_s_probe_computes_nothing(monkeypatch):
    """A backend without a kernel of add has a profiler all the same."""
    import torch
    from openreg_gen.audit.probes import tensors
    from torch.utils._python_dispatch import TorchDispatchMode

    called = []

    class Calls(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            called.append(func)
            return func(*args, **(kwargs or {}))

    activities = {torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1}
    monkeypatch.setattr(torch.profiler, "supported_activities", lambda: activities)
    with Calls():
        tensors.profiler("meta")
    assert called and {func.overloadpacket for func in called} <= {torch.ops.aten.arange, torch.ops.aten._to_copy}


def test_an_entry_waits_under_its_operator_s_name():
    """sparse.mm isn't mm."""
    from openreg_gen.audit.dtypes import aten_names
    from torch.testing._internal.common_methods_invocations import op_db

    names = {info.name: aten_names(info) for info in op_db}
    assert "mm" not in names["sparse.mm"] and "mm" in names["mm"]
    assert names["linalg.inv"] == {"linalg_inv"}
    assert "relu" in names["nn.functional.relu"] and "softsign" in names["nn.functional.softsign"]
