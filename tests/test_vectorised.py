"""The loop of a kernel from an expression is vectorised by the compiler, with the flags that the tree is built with: each kernel
is compiled, and its machine code has a loop over packed numbers."""

import json
import platform
import re
import subprocess

import capstone
import pytest
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the instructions of x86-64")
SPEC = """\
backend: {name: mybackend}
ops:
  add.out: {strategy: pointwise, expr: self + alpha * other, dtypes: [float32]}
  maximum.out: {strategy: pointwise, expr: "self != self || self > other ? self : other", dtypes: [float32]}
  mul.out: {strategy: pointwise, expr: self * other, dtypes: [int32]}
  hypot.out: {strategy: pointwise, expr: std::sqrt(self * self + other * other), dtypes: [float32]}
  sum.IntList_out: {strategy: reduction, combine: a + b, init: "0", dtypes: [float32]}
  argmax.out: {strategy: reduction, prefer: a > b || a != a, dtypes: [float32]}
"""
# Instructions over packed numbers that the kernel's loop needs: SSE's, which all have, or AVX's.
PACKED = {
    "add_out": ["v?mulps", "v?addps"],
    "maximum_out": ["v?(cmp\\w*|max|min)ps"],
    "mul_out": ["v?pmul(udq|ld)"],
    "hypot_out": ["v?mulps", "v?addps", "v?sqrtps"],
    "sum_IntList_out": ["v?addps"],
    "argmax_out": ["v?cmp\\w*ps"],
}
# Collecting numbers that are not neighbours: loops for strides.
GATHERED = "v?(shuf|unpck|insert|gather)\\w*|v?movss"


@pytest.fixture(scope="module")
def commands(openreg_gen, tmp_path_factory):
    """How CMake would compile each file of a tree."""
    where = tmp_path_factory.mktemp("vectorised")
    (where / "spec.yaml").write_text(SPEC)
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=where)
    tree = where / "tree"
    subprocess.run(
        ["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja"], check=True, capture_output=True, timeout=600
    )
    return json.loads((tree / "build/compile_commands.json").read_text())


def jump_target(instruction):
    """Of a conditional jump, else nothing."""
    jumps = instruction.mnemonic.startswith("j") and instruction.mnemonic != "jmp"
    return int(instruction.op_str, 16) if jumps else None


def innermost_loops(path):
    """The mnemonics of each loop of an object file without a loop in it."""
    machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    with path.open("rb") as file:
        sections = [s.data() for s in ELFFile(file).iter_sections() if s["sh_flags"] & SH_FLAGS.SHF_EXECINSTR]
    for code in sections:
        instructions = list(machine.disasm(code, 0))
        places = {each.address: index for index, each in enumerate(instructions)}
        begins = ((places.get(jump_target(each)), index) for index, each in enumerate(instructions))
        loops = [(begin, end) for begin, end in begins if begin is not None and begin <= end]
        for begin, end in loops:
            if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops):
                yield [each.mnemonic for each in instructions[begin : end + 1]]


@pytest.mark.parametrize(
    "kernel",
    # One in CI, a loop that reduces.
    [name if name == "sum_IntList_out" else pytest.param(name, marks=pytest.mark.nightly) for name in PACKED],
)
def test_the_contiguous_loop_is_vectorised(commands, kernel, tmp_path):
    command = next(row for row in commands if row["file"].endswith(f"/native/{kernel}.cpp"))
    words = command["command"].split()
    words = words[next(i for i, word in enumerate(words) if word.endswith("++")) :]  # without ccache
    words[words.index("-o") + 1] = str(tmp_path / "kernel.o")
    outcome = subprocess.run(words, check=False, cwd=command["directory"], text=True, capture_output=True, timeout=1200)
    assert outcome.returncode == 0, outcome.stderr
    loops = list(innermost_loops(tmp_path / "kernel.o"))

    def has(loop, pattern):
        return any(re.fullmatch(pattern, mnemonic) for mnemonic in loop)

    good = [loop for loop in loops if all(has(loop, each) for each in PACKED[kernel]) and not has(loop, GATHERED)]
    assert good, f"none of {len(loops)} loops is over packed numbers: {PACKED[kernel]}"
