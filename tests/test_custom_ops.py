"""Operators of a backend's own: each kind of argument, default, result and backward is rendered and compiles."""

import inspect
import re
import subprocess

import pytest
import torch
from trees import ROOT

SPEC = """\
backend: {name: mybackend}
custom_ops:
  - schema: scale(Tensor self, float k=2, float? shift=None) -> Tensor
    expr: self * k + value_or(shift, 0)
    autograd: formula
    backward: grad * k
  - schema: scale.tensor(Tensor self, Tensor k) -> Tensor
    expr: self * k
    autograd: formula
    backward: grad * k; grad * self
  - schema: scale.fn(Tensor self, Tensor k, int n) -> Tensor
    expr: self * k + n
    autograd: function
    backward: "grad * k; "
  - schema: 'pool(Tensor x, int[2] size=[1,1], *, int[]? stride=None, float[] w=[0.5, 1], str mode="max") -> Tensor'
  - schema: pool.list(Tensor[] xs, Tensor? w=None, ScalarType? dtype=None, Scalar? s=None) -> Tensor[]
  - schema: minmax(Tensor x, Tensor? w=None, *, int[2] d=1, float? eps=None, str? m=None) -> (Tensor, Tensor)
    autograd: formula
  - schema: bump(Tensor(a!) x, int by=1) -> ()
"""
KERNELS = ["bump", "minmax", "pool", "pool_list"]


@pytest.fixture(scope="module")
def custom(openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp("custom")
    (where / "spec.yaml").write_text(SPEC)
    openreg_gen("new", "mybackend", "--spec", where / "spec.yaml", "--out", where / "tree")
    return where / "tree"


def compiles(tree, environment, sources):
    """One unit, so that the kernels are compared with their declarations, too."""
    include = environment[1] / "include"
    unit = tree / "all.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    system = [flag for path in (include, include / "torch/csrc/api/include") for flag in ("-isystem", path)]
    device = tree / "third_party/mybackend/include"
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", tree / "csrc", "-I", device]
    outcome = subprocess.run([*command, *system, unit], check=False, text=True, capture_output=True)
    assert outcome.returncode == 0, outcome.stderr


def test_kernels_and_registrations_compile(custom, environment):
    compiles(custom, environment, ["aten/CustomOps.cpp", *(f"aten/native/custom_{name}.cpp" for name in KERNELS)])


def test_the_kernel_of_the_guide(openreg_gen, environment, tmp_path):
    """It compiles; and where the owner asks for a backward later, an untouched file is said to lack it."""
    schema = "fused_scale(Tensor x, float k) -> Tensor"
    spec, file = tmp_path / "tree/mybackend.yaml", tmp_path / "tree/csrc/aten/native/custom_fused_scale.cpp"
    openreg_gen("new", "mybackend", cwd=tmp_path)
    openreg_gen("add", schema, cwd=tmp_path / "torch_mybackend")
    (tmp_path / "torch_mybackend").rename(tmp_path / "tree")
    was = f"  - schema: {schema}\n"
    assert was in spec.read_text()
    spec.write_text(spec.read_text().replace(was, f"{was}    autograd: formula\n"))
    for _ in range(2):
        said = openreg_gen("generate", cwd=tmp_path / "tree").stdout
        assert "custom_fused_scale.cpp" in said and "`openreg-gen generate --diff`" in said
    assert "+std::vector<at::Tensor> custom_fused_scale_backward(" in openreg_gen(
        "generate", "--diff", cwd=tmp_path / "tree"
    ).stdout  # fmt: skip
    guide = (ROOT / "docs/guides/custom-operators.md").read_text()
    whole, backward = re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL)
    end = whole.index("}  // namespace")
    file.write_text(
        f"{whole[:end]}{backward}{whole[end:]}".replace("#include", "#include <ATen/TensorOperators.h>\n#include", 1)
    )
    compiles(tmp_path / "tree", environment, ["aten/CustomOps.cpp", "aten/native/custom_fused_scale.cpp"])


def test_python_functions_take_what_the_schemas_say(custom):
    source = (custom / "torch_mybackend/custom_ops.py").read_text()
    functions = {}
    exec(compile(source.partition("\ndef _register")[0], "custom_ops.py", "exec"), functions)
    for name in ("scale", "scale_tensor", "scale_fn", *KERNELS):
        schema = torch._C.parse_schema(inspect.getdoc(functions[name]))
        parameters = inspect.signature(functions[name]).parameters
        assert list(parameters) == [argument.name for argument in schema.arguments]
        for argument in schema.arguments:
            parameter = parameters[argument.name]
            assert argument.kwarg_only == (parameter.kind is parameter.KEYWORD_ONLY)
            assert argument.has_default_value() == (parameter.default is not parameter.empty)
            if argument.has_default_value():
                given = parameter.default
                value = argument.default_value
                # `int[2] d=1` stands for [1, 1]
                assert value == (list(given) if isinstance(given, tuple) else [given] * 2 if value == [1, 1] else given)
