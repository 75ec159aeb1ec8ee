"""The loop of a kernel from an expression is vectorised by the compiler, with the flags that the tree is built with."""

import json
import re
import subprocess

import pytest

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
# Kernel, header of its loops, and the line before the loop that must be vectorised: a condition or the outer loop.
LOOPS = [
    ("add_out", "DeviceLoop.h", "auto* const results = reinterpret_cast<scalar_t*>(out);"),
    ("maximum_out", "DeviceLoop.h", "auto* const results = reinterpret_cast<scalar_t*>(out);"),
    ("mul_out", "DeviceLoop.h", "auto* const results = reinterpret_cast<scalar_t*>(out);"),
    ("hypot_out", "DeviceLoop.h", "auto* const results = reinterpret_cast<scalar_t*>(out);"),
    ("sum_IntList_out", "Reduce.h", "for (; i + kLanes <= end; i += kLanes) {"),
    ("argmax_out", "Pick.h", "for (place_t block = 1; block < blocks; ++block) {"),
]


@pytest.fixture(scope="module")
def configured(openreg_gen, tmp_path_factory):
    """A tree, and how CMake would compile each of its files."""
    where = tmp_path_factory.mktemp("vectorised")
    (where / "spec.yaml").write_text(SPEC)
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=where)
    tree = where / "tree"
    subprocess.run(["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja"], check=True, capture_output=True)
    return tree, json.loads((tree / "build/compile_commands.json").read_text())


@pytest.mark.parametrize(("kernel", "header", "before"), LOOPS, ids=[row[0] for row in LOOPS])
def test_the_contiguous_loop_is_vectorised(configured, kernel, header, before):
    tree, commands = configured
    command = next(row for row in commands if row["file"].endswith(f"/native/{kernel}.cpp"))
    words = command["command"].split()
    words = words[next(i for i, word in enumerate(words) if word.endswith("++")) :]  # without ccache
    words[words.index("-o") + 1] = "/dev/null"
    if "clang" in subprocess.run([words[0], "--version"], check=True, text=True, capture_output=True).stdout:
        pytest.skip("-fopt-info is GCC's")
    outcome = subprocess.run(
        [*words, "-fopt-info-vec"], check=False, cwd=command["directory"], text=True, capture_output=True
    )
    assert outcome.returncode == 0, outcome.stderr
    lines = (tree / "csrc/aten/native" / header).read_text().splitlines()
    loop = next(i for i, line in enumerate(lines, 1) if line.strip() == before) + 1
    assert "for (" in lines[loop - 1]
    vectorised = re.findall(rf"{header}:(\d+):\d+: optimized: loop vectorized", outcome.stderr)
    # Of two loops the outer, where the inner one was unrolled.
    assert {str(loop), str(loop - 1)} & set(vectorised), f"{header}:{loop} is not among {vectorised}"
