"""An external tree: builds and imports before anything is ported, says what to port first, and with a port to plain
host memory (external/host_port.cpp) or one that behaves like a card (external/card_port.cpp) climbs the whole bring-up ladder.

CARD_TESTS=all in the environment runs all tests of the whole tree on the card, not only those that CI runs."""

import os
import re
import shutil
import sys

import pytest
from ports import BUILT, GENERATOR, PORT, ROOT, ladder, new_tree, on_the_card, run


def of_rung(outcomes, rung):
    return {name: outcome for name, outcome in outcomes.items() if name.startswith(f"test_bringup_{rung}_")}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Freshly rendered and built, in this Python's environment but not installed into it."""
    return new_tree(tmp_path_factory.mktemp("external"), "--profile", "full")


def without(port, function, body=None):
    """A port's text without one of its functions, or with another body in its place."""
    pattern = rf"^(mybackendError_t mybackend{function}\([^)]*(?:\([^)]*\)[^)]*)*\)) \{{\n.*?^\}}\n"
    text, count = re.subn(pattern, rf"\1 {{ {body} }}\n" if body else "", port, flags=re.MULTILINE | re.DOTALL)
    assert count == 1
    return text


@pytest.fixture(scope="module")
def ported(tree):
    """The same tree with a port to host memory. Tests that need the unported one come first."""
    shutil.copy(ROOT / "tests/external/host_port.cpp", tree / PORT)
    run("cmake", "--build", "build", cwd=tree)
    return tree


def test_a_fresh_tree_imports_and_has_no_device(tree):
    script = "import torch, torch_mybackend as p; print(torch.mybackend.is_available(), torch.mybackend.device_count())"
    assert run(sys.executable, "-c", script, cwd=tree).stdout.split() == ["False", "0"]


def test_using_a_fresh_tree_names_what_to_port(tree):
    script = "import torch, torch_mybackend; torch.empty(2, device='mybackend')"
    result = run(sys.executable, "-c", script, cwd=tree, check=False)
    assert result.returncode != 0
    assert f"mybackendGetDeviceCount is not ported yet: fill it in {PORT} (rung 1 of docs/porting.md)" in result.stderr


def test_the_ladder_of_a_fresh_tree_stands_on_rung_one(tree):
    outcomes, output = ladder(tree)
    first = next(name for name, outcome in outcomes.items() if outcome != "PASSED")
    assert first == "test_bringup_1_import.py::test_port[mybackendGetDeviceCount]"
    assert outcomes["test_bringup_1_import.py::test_import_works_whatever_is_ported"] == "PASSED"
    assert "mybackendGetDeviceCount is not ported yet" in output
    for rung in (2, 3, 4, 5):
        assert set(of_rung(outcomes, rung).values()) == {"SKIPPED"}
    assert "rung 1 comes first: mybackendGetDeviceCount: mybackendGetDeviceCount is not ported" in output


def test_a_half_ported_tree_stands_between_rungs(tree):
    fresh = (tree / PORT).read_text()
    host = (ROOT / "tests/external/host_port.cpp").read_text()
    # Takes back one function of rung 3, as if it had not been ported yet.
    half = without(host, "EventQuery", "return not_ported(__func__, 3);")
    try:
        (tree / PORT).write_text(half)
        run("cmake", "--build", "build", cwd=tree)
        outcomes, output = ladder(tree)
    finally:
        (tree / PORT).write_text(fresh)
    for rung in (1, 2):
        assert set(of_rung(outcomes, rung).values()) == {"PASSED"}, output
    assert outcomes["test_bringup_3_streams.py::test_port[mybackendEventQuery]"] == "FAILED"
    assert outcomes["test_bringup_3_streams.py::test_port[mybackendEventRecord]"] == "PASSED"
    for rung in (4, 5):
        assert set(of_rung(outcomes, rung).values()) == {"SKIPPED"}
    assert "rung 3 comes first: mybackendEventQuery" in output


def test_host_memory_climbs_the_whole_ladder(ported):
    outcomes, output = ladder(ported)
    assert set(outcomes.values()) == {"PASSED"}, output
    assert {name[len("test_bringup_")] for name in outcomes} == set("12345")


def test_a_port_that_the_host_reaches_is_told_of_host_alias(ported):
    """Its code of the host runs on copies all the same, until the component is added."""
    said = run(sys.executable, "-m", "torch_mybackend.diagnose", cwd=ported).stdout
    assert "on copies, though it could reach the device's memory: openreg-gen add component host_alias" in said
    script = "import torch, torch_mybackend; print(torch.mybackend.get_device_properties().host_accessible)"
    assert run(sys.executable, "-c", script, cwd=ported).stdout.strip() == "False"


# A strategy each, with an operator of the standard spec whose first kernel runs on the host if nothing of the device does.
FIRST_VERSIONS = {
    "exp.out": ("in_tree", "x.exp()"),
    "abs.out": ("stub", "x.abs_()"),
    "relu": ("native", "x.relu()"),
    "maximum.out": ("structured", "torch.maximum(x, x)"),
    "hypot.out": ("pointwise", "torch.hypot(x, x)"),
    "amax.out": ("reduction", "x.amax(0)"),
    "mm.out": ("matmul", "x @ x"),
    "native_batch_norm": ("minimal", "torch.nn.functional.batch_norm(x, None, None, training=True)"),
}


def test_the_host_does_nothing_in_silence(ported):
    """On a device whose memory no host function reaches: what runs on copies is reported, and `none` refuses it."""
    port = (ported / PORT).read_text()
    script = f"""
import torch, torch_mybackend
x = torch.ones(4, 4, device="mybackend")
x.t().contiguous(), x.double()  # never refused
x[:, 1] = 2.0
torch.mybackend.reset_fallback_report()
for op, (strategy, call) in {FIRST_VERSIONS!r}.items():
    try:
        eval(call)
        print("ran", op)
    except NotImplementedError as error:
        print("refused", op, "aten::" + op in str(error) and "(" + strategy + ")" in str(error))
for count in torch.mybackend.fallback_report():
    if count.cause == "kernel":
        print("counted", count.op.removeprefix("aten::"), count.strategy, count.calls, count.bytes_to_device > 0)
"""
    try:
        (ported / PORT).write_text(port.replace("kMemory, 1, 1, 0, 1}", "kMemory, 1, 1, 0, 0}"))
        run("cmake", "--build", "build", cwd=ported)
        lines = run(sys.executable, "-c", script, cwd=ported).stdout.splitlines()
        none = run("env", "MYBACKEND_FALLBACK=none", sys.executable, "-c", script, cwd=ported).stdout.splitlines()
    finally:
        (ported / PORT).write_text(port)
        run("cmake", "--build", "build", cwd=ported)
    counted = {f"counted {op} {strategy} 1 True" for op, (strategy, _) in FIRST_VERSIONS.items()}
    assert {line for line in lines if not line.startswith("ran ")} == counted
    assert none == [f"refused {op} True" for op in FIRST_VERSIONS]


def test_what_the_driver_says_reaches_the_user(ported):
    script = """
import ctypes, torch, torch_mybackend, bringup
try:
    torch.empty(1 << 40, dtype=torch.uint8, device="mybackend")
except torch.OutOfMemoryError as error:
    print(error)
try:
    with torch.mybackend.graph(torch.mybackend.Graph()):
        pass
except torch.AcceleratorError as error:
    print(error)
source = b"\\x03\\x02\\x23\\x07\\x00\\x00\\x00\\x09"
print(bringup.status("ProgramBuild", None, b"spirv", source, ctypes.c_size_t(len(source)), None))
print(bringup.error_text(bringup.INVALID_VALUE))
"""
    done = run(sys.executable, "-c", script, cwd=ported, PYTHONPATH=f"{ported}:{ported / 'tests'}").stdout
    assert "The driver says: the host lends no 1099511627776 bytes." in done
    assert "mybackendStreamBeginCapture is optional, and the port leaves it out" in done
    assert done.endswith("1\nspirv:1: 8 bytes, the last is 9\n")


@pytest.fixture(scope="module")
def device_alone(tmp_path_factory):
    """A tree that is not built, where `torch` cannot be imported, and what builds the device library alone."""
    tree = tmp_path_factory.mktemp("alone") / "torch_mybackend"
    run(GENERATOR, "new", "mybackend", "--device", "external", "--profile", "full", "--out", str(tree), cwd=tree.parent)
    (tree / "torch.py").write_text("raise ImportError('PyTorch is not there')\n")

    def build(port):
        (tree / PORT).write_text(port)
        run("cmake", "-S", "third_party/mybackend", "-B", "build-device", "-G", "Ninja",
            "-DMYBACKEND_WERROR=ON", cwd=tree)  # fmt: skip
        run("cmake", "--build", "build-device", cwd=tree)
        return ladder(tree, MYBACKEND_LIBRARY="build-device/libmybackend.so")

    build.tree = tree
    return build


def test_the_ladder_climbs_on_the_device_library_alone(device_alone):
    outcomes, output = device_alone((ROOT / "tests/external/host_port.cpp").read_text())
    calls = {name: outcome for name, outcome in outcomes.items() if "::test_port[" in name}
    assert set(calls.values()) == {"PASSED"}, output
    assert {name[len("test_bringup_")] for name in calls} == set("1234")
    assert {outcome for name, outcome in outcomes.items() if name not in calls} == {"SKIPPED"}
    assert "needs PyTorch: MYBACKEND_LIBRARY asks for the device library alone" in output


def test_the_ladder_without_host_functions(device_alone):
    """Optional where the host does not reach device memory; needed where it does."""
    port = without((ROOT / "tests/external/host_port.cpp").read_text(), "LaunchKernel")
    outcomes, output = device_alone(port)
    assert outcomes["test_bringup_4_operators.py::test_port[mybackendLaunchKernel]"] == "FAILED"
    assert "mybackendLaunchKernel is optional, and the port leaves it out" in output
    outcomes, output = device_alone(port.replace("kMemory, 1, 1, 0, 1}", "kMemory, 1, 1, 0, 0}"))
    assert outcomes["test_bringup_4_operators.py::test_port[mybackendLaunchKernel]"] == "SKIPPED"
    assert "LaunchKernel is left out: it is optional with hostAccessible 0, except for torch.distributed" in output


def test_odd_ranges_are_looked_at(device_alone):
    """A port whose memset works by words, as engines do: right for all that the first rungs did before."""
    port = (ROOT / "tests/external/host_port.cpp").read_text()
    words = port.replace("std::memset(pointer, value, size);", "std::memset(pointer, value, (size + 3) / 4 * 4);")
    assert words != port
    outcomes, output = device_alone(words)
    assert outcomes["test_bringup_2_memory.py::test_port[mybackendMemset]"] == "PASSED"
    assert outcomes["test_bringup_2_memory.py::test_port[mybackendMemset-odd_ranges]"] == "FAILED"


@pytest.mark.parametrize(
    ("right", "wrong", "step", "said"),
    [
        ("thread_local int current = 0;", "int current = 0;", "import.py::test_port[mybackendSetDevice-in-a-thread]",
         "says 1 in a new thread"),
        ("if (!block) return mybackendErrorInvalidValue;", "if (!block) return mybackendSuccess;",
         "memory.py::test_port[mybackendFree]", "of a foreign address answers 0, not 1"),
    ],
)  # fmt: skip
def test_what_the_contract_says_of_threads_and_of_foreign_addresses(device_alone, right, wrong, step, said):
    port = (ROOT / "tests/external/host_port.cpp").read_text()
    assert port.count(right) == 1
    outcomes, output = device_alone(port.replace(right, wrong))
    assert [name for name, outcome in outcomes.items() if outcome == "FAILED"][0].partition("_bringup_")[2][2:] == step
    assert said in output


def test_a_vendors_idioms_are_no_warnings(device_alone):
    """What -Wextra says of {TYPE} where a struct has more members, as in every file for Vulkan."""
    own = device_alone.tree / "third_party/mybackend/src/own.cpp"
    own.write_text("struct Info { int type; void* next; };\nInfo info();\nInfo info() { return Info{1}; }\n")
    outcomes, output = device_alone((ROOT / "tests/external/host_port.cpp").read_text())
    own.unlink()
    assert "FAILED" not in outcomes.values(), output


@pytest.fixture(scope="module")
def card(tree):
    """The same tree with a port that behaves like a discrete, asynchronous card. Tests of other ports come first."""
    shutil.copy(ROOT / "tests/external/card_port.cpp", tree / PORT)
    run("cmake", "--build", "build", cwd=tree)
    run(sys.executable, "setup.py", "-q", "egg_info", cwd=tree)  # PyTorch finds its entry point
    return tree


# What a discrete device meets first: copies, fills, streams, memory, operators, what falls back, distributed.
ON_THE_CARD = (
    "device as_on_the_cpu minimal_set storage memory allocator host_memory streams operators gemm "
    "fallback fallback_report distributed distributed_works distributed_errors"
)


def test_a_card_climbs_the_whole_ladder(card):
    outcomes, output = ladder(card)
    assert set(outcomes.values()) == {"PASSED"}, output


def test_what_a_card_is_asked_to_do(card):
    on_the_card(card, str(ROOT / "tests/external/card_tests.py"), "--rootdir", ".")


def test_a_whole_tree_on_a_card(card):
    files = [f"tests/test_{name}.py" for name in ON_THE_CARD.split()]
    whole = os.environ.get("CARD_TESTS") == "all"
    on_the_card(card, "-n", "2", "--dist", "loadfile", *(["tests"] if whole else files))
    built = [
        str(BUILT / f"test_{name}.py") for name in ("build", "memory_api", "module", "streams", "random", "surface")
    ]
    on_the_card(card, "-n", "2", "--dist", "loadfile", *([str(BUILT)] if whole else built))
