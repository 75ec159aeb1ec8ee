"""A tree of `device.api: opencl` whose owner writes kernels: `structured` and `native` operators start right, then run what is in
their .cl files, without a build. Run by scripts/test.sh opencl with the tree's interpreter; TREE: the tree, of whose operators
frac.out is structured, roll and hardtanh_ are native."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(os.environ["TREE"])
NAME = "mycl"
KERNELS = TREE / f"torch_{NAME}" / "opencl" / "kernels"
BODIES = {
    "frac_out": "const acc_t x = GET(self, i); SET(out, i, x - trunc(x));",
    "hardtanh_": "SET(self, i, f_clamp(GET(self, i), min_val, max_val));",
    "roll": """
  ulong left = i, from = 0, step = 1;
  for (int d = self_info.dims - 1; d >= 0; --d) {
    const long n = self_info.sizes[d];
    long here = (long)(left % n);
    for (int k = 0; k < dims.count; ++k)
      if (dims.at[k] == d) here = ((here - shifts.at[k]) % n + n) % n;
    from += step * here;
    step *= n;
    left /= n;
  }
  SET(out, i, GET(self, from));""",
}
COMPARE = f"""
import torch
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.complex64):
    x = (torch.arange(35) / 4 - 4).reshape(5, 7).to(dtype)
    for here in (x, x.t(), x[:, ::2], x[:0], x[1, 2]):
        there = here.to("{NAME}")
        if dtype != torch.complex64:
            torch.testing.assert_close(torch.frac(there).cpu(), torch.frac(here))
            y = here.clone()
            torch.testing.assert_close(torch.nn.functional.hardtanh_(there.clone(), -1, 2).cpu(), torch.nn.functional.hardtanh_(y, -1, 2))
        if here.dim() == 2:
            torch.testing.assert_close(torch.roll(there, (2, -1), (0, 1)).cpu(), torch.roll(here, (2, -1), (0, 1)))
print("equal")
"""


def start_of(name: str) -> str:
    return (KERNELS / f"{name}.cl").read_text()


def written(name: str, body: str) -> str:
    """The file with the line UNWRITTEN taken away, and `body` in place of the last statement."""
    head, rest = start_of(name).split("#define UNWRITTEN", 1)
    lines = rest.splitlines()[1:]
    return head + "\n".join(lines[:-2] + ["  " + body, "}", ""])


@pytest.fixture
def kernels():
    """Writes kernels; puts back what was there."""
    starts = {name: start_of(name) for name in BODIES}

    def write(bodies):
        for name, body in bodies.items():
            (KERNELS / f"{name}.cl").write_text(written(name, body))

    yield write
    for name, text in starts.items():
        (KERNELS / f"{name}.cl").write_text(text)


def run(*argv, **env) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *argv], env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


def programs(cache: Path) -> set[str]:
    files = list(cache.glob("*_programs/*"))
    return {name for name in BODIES for file in files if f"kernels/{name}".encode() in file.read_bytes()}


def test_they_start_as_the_cpus_kernels(tmp_path):
    done = run("-c", COMPARE, **{f"{NAME.upper()}_PROGRAM_CACHE": str(tmp_path)})
    assert done.stdout == "equal\n", done.stderr
    assert not programs(tmp_path)


def test_what_is_written_runs_without_a_build(kernels, tmp_path):
    libraries = {path: path.stat().st_mtime_ns for path in TREE.rglob("*.so")}
    kernels(BODIES)
    done = run("-c", COMPARE, **{f"{NAME.upper()}_PROGRAM_CACHE": str(tmp_path)})
    assert done.stdout == "equal\n", done.stderr
    assert programs(tmp_path) == set(BODIES)
    assert libraries == {path: path.stat().st_mtime_ns for path in TREE.rglob("*.so")}


def test_an_error_of_the_compiler_says_where(kernels):
    kernels({"frac_out": "SET(out, i, missing);"})
    line = (KERNELS / "frac_out.cl").read_text().splitlines().index("  SET(out, i, missing);") + 1
    done = run("-c", COMPARE)
    assert done.returncode == 1
    assert f"kernels/frac_out.cl:{line}:" in done.stderr


def test_a_wrong_kernel_is_found_by_the_trees_tests(kernels):
    kernels({"frac_out": "SET(out, i, GET(self, i));"})
    done = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TREE / "tests/test_operators.py"), "-k", "frac and forward"
    )
    assert done.returncode == 1, done.stdout
    assert "test_operator[frac.out-forward]" in done.stdout
