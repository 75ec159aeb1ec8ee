"""A kernel whose signature is wrong is one error of the compiler, which names its operator: each kind of argument."""

import re
import subprocess

import pytest

HEADERS = [
    *("add", "any", "bernoulli", "cat", "ceil", "clamp", "elu", "embedding", "flip", "gelu", "glu", "leaky_relu"),
    *("native_dropout", "native_layer_norm", "relu", "repeat", "stack", "sum", "topk", "_softmax", "_foreach_sqrt"),
]

# What is wrong, operator, its at::_ops, and a kernel that PyTorch would refuse when the library is loaded.
WRONG = [
    ("Tensor by value", "relu", "relu", "at::Tensor k(at::Tensor)"),
    ("Tensor without const", "glu.out", "glu_out", "at::Tensor& k(at::Tensor&, int64_t, at::Tensor&)"),
    ("Tensor& as const", "relu_", "relu_", "at::Tensor& k(const at::Tensor&)"),
    (
        "optional Tensor by value",
        "native_layer_norm",
        "native_layer_norm",
        "std::tuple<at::Tensor, at::Tensor, at::Tensor> k(const at::Tensor&, at::IntArrayRef,"
        " std::optional<at::Tensor>, std::optional<at::Tensor>, double)",
    ),
    ("Scalar by value", "leaky_relu", "leaky_relu", "at::Tensor k(const at::Tensor&, at::Scalar)"),
    ("Scalar as double", "elu", "elu", "at::Tensor k(const at::Tensor&, double, double, double)"),
    (
        "optional Scalar by value",
        "clamp",
        "clamp",
        "at::Tensor k(const at::Tensor&, std::optional<at::Scalar>, std::optional<at::Scalar>)",
    ),
    ("int as int32", "glu", "glu", "at::Tensor k(const at::Tensor&, int)"),
    (
        "SymInt as int32",
        "embedding",
        "embedding",
        "at::Tensor k(const at::Tensor&, const at::Tensor&, int, bool, bool)",
    ),
    ("int[] as a vector", "flip", "flip", "at::Tensor k(const at::Tensor&, std::vector<int64_t>)"),
    ("SymInt[] as a reference", "repeat", "repeat", "at::Tensor k(const at::Tensor&, const c10::SymIntArrayRef&)"),
    ("Tensor[] as IListRef", "stack", "stack", "at::Tensor k(const at::ITensorListRef&, int64_t)"),
    ("IListRef as Tensor[]", "cat", "cat", "at::Tensor k(at::TensorList, int64_t)"),
    ("Tensor[] as a vector", "_foreach_sqrt_", "_foreach_sqrt_", "void k(std::vector<at::Tensor>)"),
    ("bool as int", "_softmax", "_softmax", "at::Tensor k(const at::Tensor&, int64_t, int64_t)"),
    (
        "float as float",
        "native_dropout",
        "native_dropout",
        "std::tuple<at::Tensor, at::Tensor> k(const at::Tensor&, float, std::optional<bool>)",
    ),
    ("str as std::string", "gelu", "gelu", "at::Tensor k(const at::Tensor&, const std::string&)"),
    ("optional ScalarType missing", "sum", "sum", "at::Tensor k(const at::Tensor&, at::ScalarType)"),
    ("optional Generator missing", "bernoulli", "bernoulli", "at::Tensor k(const at::Tensor&, at::Generator)"),
    ("result by value", "ceil.out", "ceil_out", "at::Tensor k(const at::Tensor&, at::Tensor&)"),
    (
        "results as a vector",
        "topk",
        "topk",
        "std::vector<at::Tensor> k(const at::Tensor&, int64_t, int64_t, bool, bool)",
    ),
    ("an argument too few", "add.Tensor", "add_Tensor", "at::Tensor k(const at::Tensor&, const at::Tensor&)"),
    ("an argument too many", "any", "any", "at::Tensor k(const at::Tensor&, bool)"),
]
RIGHT = [
    ("relu", "relu", "at::Tensor k(const at::Tensor&)"),
    ("repeat", "repeat", "at::Tensor k(const at::Tensor&, c10::SymIntArrayRef)"),
    ("flip", "flip", "at::Tensor k(const at::Tensor&, at::IntArrayRef)"),
    ("stack", "stack", "at::Tensor k(at::TensorList, int64_t)"),
    ("cat", "cat", "at::Tensor k(const at::ITensorListRef&, int64_t)"),
    ("gelu", "gelu", "at::Tensor k(const at::Tensor&, c10::string_view)"),
    ("glu.out", "glu_out", "at::Tensor& k(const at::Tensor&, int64_t, at::Tensor&)"),
    ("embedding", "embedding", "at::Tensor k(const at::Tensor&, const at::Tensor&, int64_t, bool, bool)"),
]


@pytest.fixture(scope="module")
def compile(pristine, environment, tmp_path_factory):
    """Compiles registrations, syntax only; gives what the compiler says in its errors."""
    source = tmp_path_factory.mktemp("signatures") / "kernels.cpp"
    include = environment[1] / "include"

    def run(kernels):
        text = ['#include "aten/Signature.h"', *(f"#include <ATen/ops/{name}_ops.h>" for name in HEADERS)]
        for index, (_, _, kernel) in enumerate(kernels):
            text.append(f"namespace n{index} {{ {kernel}; }}")
        text += [f'MYBACKEND_KERNEL("{op}", at::_ops::{of}, n{i}::k);' for i, (op, of, _) in enumerate(kernels)]
        source.write_text("\n".join([*text, ""]))
        system = [flag for path in (include, include / "torch/csrc/api/include") for flag in ("-isystem", path)]
        command = ["g++", "-std=c++20", "-fsyntax-only", "-w", "-I", pristine / "csrc", *system, source]
        outcome = subprocess.run(command, check=False, text=True, capture_output=True)
        assert (outcome.returncode == 0) == ("error: " not in outcome.stderr), outcome.stderr
        return re.findall(r"error: (.*)", outcome.stderr)

    return run


@pytest.fixture(scope="module")
def errors(compile):
    return compile([row[1:] for row in WRONG])


@pytest.mark.parametrize(("what", "op"), [row[:2] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_signature_is_one_error_that_names_the_operator(errors, what, op):
    naming = [error for error in errors if f"aten::{op}: " in error]
    assert len(naming) == 1, what
    assert "signature is not the one of this PyTorch" in naming[0]


def test_there_is_no_other_error(errors):
    assert len(errors) == len(WRONG)


def test_right_signatures_compile(compile):
    assert compile(RIGHT) == []
