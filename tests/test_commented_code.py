"""Examples in comments of rendered files compile, in the place and for the tree that they are written for."""

import re
import subprocess

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]


def example(text, first):
    """The code of the comment that begins with the line `first`, without its slashes."""
    lines = text.splitlines()
    start = lines.index(f"//   {first}")
    code = []
    for line in lines[start:]:
        if line != "//" and not line.startswith("//   "):
            break
        code.append(line.removeprefix("//").removeprefix("   "))
    return code


def compiled(command, unit, lines):
    unit.write_text("\n".join([*lines, ""]))
    outcome = subprocess.run([*command, unit], check=False, text=True, capture_output=True)
    assert outcome.returncode == 0, outcome.stderr


def test_the_kernel_in_a_new_native_operator(openreg_gen, environment, tmp_path):
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", tmp_path / "tree")
    openreg_gen("add", "relu", "--strategy", "native", "-C", tmp_path / "tree")
    (kernel,) = (tmp_path / "tree/csrc/aten/native").glob("*elu.cpp")
    text = kernel.read_text()
    code = example(text, "#include <memory>")
    includes = [line for line in code if line.startswith("#include")]
    body = [line for line in code if not line.startswith("#include")]
    include = environment[1] / "include"
    command = ["g++", *FLAGS, "-I", tmp_path / "tree/csrc", "-I", tmp_path / "tree/third_party/mybackend/include"]
    for path in (include, include / "torch/csrc/api/include"):
        command += ["-isystem", path]
    own = re.findall(r"^#include .*", text, re.MULTILINE)
    lines = [*own, *includes, "namespace mybackend::native {", "at::Tensor example(const at::Tensor& x);"]
    compiled(command, tmp_path / "kernel.cpp", [*lines, "at::Tensor example(const at::Tensor& x) {", *body, "}", "}"])


def test_the_function_in_a_new_port(openreg_gen, tmp_path):
    openreg_gen("new", "mybackend", "--device", "external", "--out", tmp_path / "tree")
    device = tmp_path / "tree/third_party/mybackend"
    code = example(
        (device / "src/port.cpp").read_text(),
        "mybackendError_t mybackendMemsetAsync(void* pointer, int value, size_t size, mybackendStream_t stream) {",
    )
    vendor = [
        '#include "port_support.h"',
        "using namespace mybackend::driver;",
        "struct Block { char* base; std::size_t size; };",
        "AllocationTable<Block> allocations;",
        "struct Queue;",
        "Queue* queue_of(mybackendStream_t stream);",
        "int vendorFill(void* pointer, int value, size_t size, Queue* queue);",
        "const char* vendorText(int code);",
    ]
    command = ["g++", *FLAGS, "-I", device / "include", "-I", device / "src"]
    compiled(command, tmp_path / "port.cpp", [*vendor, *code])
