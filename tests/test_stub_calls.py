"""scripts/stub_calls.py on libraries of a few functions, called and registered as PyTorch's are."""

import platform
import shutil
import subprocess
import sys

import pytest
from trees import ROOT

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="it reads machine code of x86-64 alone")

SOURCE = r"""
#define HELPER __attribute__((noinline, visibility("hidden")))

namespace at {
struct Tensor {
  long value;
};

namespace native {
struct Stub {
  long (*run)(long);
};
Stub one_stub, other_stub, third_stub, never_stub, not_a_stub;

HELPER long run(Stub& stub, long value) { return stub.run(value); }
template <class T>
HELPER long twice(T value) {
  return run(one_stub, value) + run(one_stub, value + 1);
}
long exported(long value) { return run(other_stub, value) + not_a_stub.run(value); }

struct structured_one_out {
  void impl(Tensor&);
};
void structured_one_out::impl(Tensor& out) { out.value = twice(out.value); }

// Overloads: one is called by the other through the dispatcher.
Tensor both(const Tensor& self, const Tensor& other);
Tensor both(const Tensor& self, long other);
Tensor& both_out(const Tensor& self, Tensor& out) {
  out.value = exported(self.value) + twice(self.value);
  return out;
}
}  // namespace native

namespace _ops {
struct both {
  static Tensor call(const Tensor& self, const Tensor& other);
};
Tensor both::call(const Tensor& self, const Tensor& other) { return native::both(self, other); }
}  // namespace _ops

namespace native {
Tensor both(const Tensor& self, const Tensor& other) { return {run(third_stub, self.value + other.value)}; }
Tensor both(const Tensor& self, long other) { return _ops::both::call(self, {other}); }
}  // namespace native

namespace {
namespace {
Tensor wrapper_CPU_Tensor_both(const Tensor& self, const Tensor& other) { return native::both(self, other); }
Tensor wrapper_CPU_Scalar_both(const Tensor& self, long other) { return native::both(self, other); }
Tensor& wrapper_CPU_out_both_out(const Tensor& self, Tensor& out) { return native::both_out(self, out); }
}  // namespace
}  // namespace
}  // namespace at

namespace c10::impl {
template <auto function, class Signature>
struct wrap_kernel_functor_unboxed_;
template <auto function, class R, class... Args>
struct wrap_kernel_functor_unboxed_<function, R(Args...)> {
  static R call(Args... args) { return function(args...); }
};
}  // namespace c10::impl

namespace at {
template <auto function, class R, class... Args>
void* boxed(R (*)(Args...)) {
  return reinterpret_cast<void*>(&c10::impl::wrap_kernel_functor_unboxed_<function, R(Args...)>::call);
}
void* kernels[] = {boxed<&wrapper_CPU_Tensor_both>(&wrapper_CPU_Tensor_both),
                   boxed<&wrapper_CPU_Scalar_both>(&wrapper_CPU_Scalar_both),
                   boxed<&wrapper_CPU_out_both_out>(&wrapper_CPU_out_both_out)};
}  // namespace at
"""
OPERATORS = """
- func: one.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA, MPS: one_out
- func: both.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: both
    CUDA: both
- func: both.Scalar(Tensor self, Scalar other) -> Tensor
  dispatch:
    CPU, CUDA: both
- func: both.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU, CUDA: both_out
- func: differs(Tensor self) -> Tensor
  dispatch:
    CPU: differs_cpu
    CUDA: differs_cuda
- func: draws(Tensor self, *, Generator? generator=None) -> Tensor
  dispatch:
    CPU, CUDA: draws
- func: looks(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU, CUDA: looks
- func: zero_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU, CUDA: zero_
- func: linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)
  dispatch:
    CPU, CUDA: linalg_eig
- func: composite(Tensor self) -> Tensor
"""


STUBS = ("one_stub", "other_stub", "third_stub", "never_stub")
DECLARATIONS = "torchgen/packaged/ATen/native/native_functions.yaml"
LIBRARY = "torch/lib/libtorch_cpu.so"
HEADER = "torch/include/ATen/native/Stubs.h"


@pytest.fixture(scope="module")
def stub_calls():
    sys.path.insert(0, str(ROOT / "scripts"))
    import stub_calls

    sys.path.pop(0)
    return stub_calls.stub_calls


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    where = tmp_path_factory.mktemp("compiled")
    header = "".join(f"DECLARE_DISPATCH(long (*)(long), {stub})\n" for stub in STUBS)
    for name, text in ((DECLARATIONS, OPERATORS), (HEADER, header), ("all.cpp", SOURCE)):
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    (where / LIBRARY).parent.mkdir()
    flags = ("-std=c++17", "-O2", "-fPIC", "-shared")  # what is exported is called through the PLT
    subprocess.run(["g++", *flags, where / "all.cpp", "-o", where / LIBRARY], check=True)
    return where


@pytest.fixture
def package(compiled, tmp_path):
    return shutil.copytree(compiled, tmp_path / "package")


def test_what_a_kernel_reaches(stub_calls, package):
    assert stub_calls(package, STUBS) == {
        "one.out": ["one_stub"],
        "both.Tensor": ["third_stub"],
        "both.Scalar": [],
        "both.out": ["one_stub", "other_stub"],
    }


def test_a_kernel_that_is_not_there(stub_calls, package):
    (package / DECLARATIONS).write_text(OPERATORS.replace("one_out", "two_out"))
    with pytest.raises(SystemExit, match="structured_two_out of one.out is not found"):
        stub_calls(package, STUBS)


def test_a_library_without_symbols(stub_calls, package):
    subprocess.run(["strip", package / LIBRARY], check=True)
    with pytest.raises(SystemExit, match="not stripped"):
        stub_calls(package, STUBS)


def test_releases_that_differ(compiled, package):
    """An operator that one of them lacks is not a difference."""
    (package / DECLARATIONS).write_text(OPERATORS.replace("one.out", "uno.out"))
    (package / HEADER).write_text((package / HEADER).read_text().replace("third_stub", "never_stub"))
    script = [sys.executable, ROOT / "scripts/facts.py", "in_tree", "--check", f"2.13={compiled}", f"2.14={package}"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "PyTorch 2.14 says something else of: both.Tensor\n"
