"""`check --against DIR` on a tree's own sources: changes planted in copies of PyTorch's headers are reported, and nothing else is."""

import json
import os
import re
import shutil

import pytest

GUARD, HOOKS = "c10/core/impl/DeviceGuardImplInterface.h", "ATen/detail/AcceleratorHooksInterface.h"
C10D = "torch/csrc/distributed/c10d"
MOVED = "ATen/Moved.h"
# Header, what it has, what it has instead, and what must be reported: does it break, change, name, which file of the tree must change.
PLANTED = [
    (GUARD, "virtual void setDevice(Device) const", "virtual void setDevice(DeviceIndex) const", True, "changed", "setDevice", "Guard.h"),
    (GUARD, "virtual Device exchangeDevice(Device) const", "virtual Device exchangeDevice(Device)", True, "changed", "exchangeDevice", "Guard.h"),
    (GUARD, "virtual Device getDevice() const = 0;", "virtual Device getDevice() const = 0;\n  virtual int planted() const = 0;", True, "new", "planted", "Guard.h"),
    (GUARD, "virtual void uncheckedSetDevice(Device) const noexcept = 0;", "", True, "gone", "uncheckedSetDevice", "Guard.h"),
    (HOOKS, "virtual bool isAvailable() const {", "virtual bool may_plant() const { return true; }\n  virtual bool isAvailable() const {", False, "new", "may_plant", "Hooks.h"),
    ("ATen/detail/PrivateUse1HooksInterface.h", "const at::Generator& getDefaultGenerator(", "at::Generator& getDefaultGenerator(", True, "changed", "getDefaultGenerator", "Hooks.h"),
    ("ATen/detail/PrivateUse1HooksInterface.h", "size_t newsize) const {", "int64_t newsize) const {", True, "changed", "resizePrivateUse1Bytes", "Hooks.h"),
    ("c10/core/GeneratorImpl.h", "virtual uint64_t current_seed() const = 0;", "virtual int64_t current_seed() const = 0;", True, "changed", "current_seed", "Generator.h"),
    ("c10/core/Allocator.h", "virtual DeleterFnPtr raw_deleter() const {", "virtual DeleterFnPtr raw_deleter() const noexcept {", True, "changed", "raw_deleter", "Allocator.h"),
    (f"{C10D}/Backend.hpp", "virtual c10::intrusive_ptr<Work> allreduce(", "virtual std::shared_ptr<Work> allreduce(", True, "changed", "allreduce", "ProcessGroup.h"),
    ("c10/core/Allocator.h", "C10_API bool memoryProfilingEnabled();", "", True, "gone", "c10::memoryProfilingEnabled", ".cpp"),
    ("ATen/Parallel.h", "TORCH_API int get_num_threads();", "", True, "gone", "at::get_num_threads", ".cpp"),
    ("c10/core/Allocator.h", "SetAllocator(DeviceType t, Allocator* alloc, uint8_t priority = 0);", "SetAllocator(DeviceType t, Allocator* alloc, int index, uint8_t priority);", True, "changed", "c10::SetAllocator", ".cpp"),
    ("c10/core/ScalarType.h", "inline bool isComplexType(ScalarType t) {", "inline bool isComplexType(DeviceType t) {", False, "changed", "c10::isComplexType", ".cpp"),
    ("ATen/core/stack.h", "inline void drop(", "inline void remove(", True, "gone", "torch::jit::drop", ".cpp"),
    ("ATen/EmptyTensor.h", "TORCH_API size_t computeStorageNbytes(", "TORCH_API size_t computeBytes(", False, "changed", "at::detail::computeStorageNbytes", ".cpp"),
    ("c10/core/DeviceGuard.h", "class OptionalDeviceGuard {", "class MaybeDeviceGuard {", True, "gone", "c10::OptionalDeviceGuard", ""),
    ("c10/util/Exception.h", "class C10_API WarningHandlerGuard {", "class C10_API HandlerGuard {", True, "gone", "c10::WarningUtils::WarningHandlerGuard", ".cpp"),
    ("c10/util/DimVector.h", "using SymDimVector =", "using SymbolicDimVector =", True, "gone", "c10::SymDimVector", ""),
    (GUARD, "  BACKEND_DEFAULT,", "  DEVICE_DEFAULT,", True, "gone", "c10::EventFlag::BACKEND_DEFAULT", ".cpp"),
    ("torch/headeronly/core/ScalarType.h", "_(uint64_t, UInt64) /* 29 */ ", "_(uint64_t, ULong)", True, "gone", "at::kUInt64", ""),
    ("c10/core/DispatchKey.h", "  _(Quantized, Quantized) ", "  _(Quantized, Quant) ", True, "gone", "c10::DispatchKey::QuantizedCPU", ""),
    (f"{C10D}/Types.hpp", "PREMUL_SUM", "SCALED_SUM", True, "gone", "c10d::ReduceOp::PREMUL_SUM", ""),
    ("c10/util/Exception.h", "#define TORCH_CHECK_NOT_IMPLEMENTED(", "#define TORCH_CHECK_IMPLEMENTED(", True, "gone", "TORCH_CHECK_NOT_IMPLEMENTED", ""),
    ("ATen/Dispatch_v2.h", "#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...)", "#define AT_DISPATCH_V2(TYPE)", True, "changed", "AT_DISPATCH_V2", ""),
    ("c10/core/CompileTimeFunctionPointer.h", "#define TORCH_FN(", "#define TORCH_FUNCTION(", True, "gone", "TORCH_FN", ""),
    ("c10/core/StorageImpl.h", "void set_nbytes(", "void set_size_bytes(", False, "gone", "set_nbytes", ".cpp"),
    ("c10/core/Stream.h", "DeviceIndex device_index() const", "DeviceIndex place() const", False, "gone", "device_index", ""),
    ("ATen/MemoryOverlap.h", None, None, True, "gone", "ATen/MemoryOverlap.h", ""),
    ("c10/util/ScopeExit.h", None, MOVED, True, "moved", "c10/util/ScopeExit.h", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def headers(environment, tmp_path_factory):
    """A function that copies PyTorch's headers; what is written there leaves the installed PyTorch alone."""
    include = environment[1] / "include"

    def copy(name):
        where = tmp_path_factory.mktemp(name) / "torch/include"
        for folder in ("ATen", "c10", "torch", "caffe2"):
            shutil.copytree(include / folder, where / folder, copy_function=link)
        return where

    return copy


def link(source, target):
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copyfile(source, target)


def replace(path, old, new):
    text = path.read_text()
    assert old in text, f"{path}: {old}"
    path.unlink()
    path.write_text(text.replace(old, new))


def check(openreg_gen, torch, tree, against, code):
    argv = ("check", "-C", tree, "--torch", torch, "--against", against)
    answer = json.loads(openreg_gen(*argv, "--json", code=code).stdout)
    assert answer["api"]["compared"]
    return answer


def test_planted_changes_are_reported_with_the_file_that_must_change(openreg_gen, environment, pristine, headers):
    where = headers("planted")
    for header, old, new, *_ in PLANTED:
        if old is not None:
            replace(where / header, old, new)
        elif new is not None:
            (where / header).rename(where / "c10" / (where / header).name)
        else:
            (where / header).unlink()
    answer = check(openreg_gen, environment[1], pristine, where.parent, 1)
    found = answer["api"]["differences"]
    assert answer["breaks"] == answer["api"]["breaks"] == sum(each["breaks"] for each in found)
    missed = []
    for header, _, new, breaks, change, name, file in PLANTED:
        match = [
            each
            for each in found
            if (each["name"] == name or each["name"].endswith("::" + name))
            and (each["breaks"], each["change"]) == (breaks, change)
            and file in each["file"]
        ]
        if not match:
            missed.append((header, new, name, [each for each in found if name in each["name"]]))
    assert not missed
    for each in found:
        lines = (pristine / each["file"]).read_text().splitlines()
        assert 1 <= each["line"] <= len(lines)
        assert each["message"] and each["hint"] and re.fullmatch(r"E040[678]", each["code"])


def test_nothing_is_reported_of_the_same_headers(openreg_gen, environment, pristine):
    answer = check(openreg_gen, environment[1], pristine, environment[1], 0)
    assert answer["api"]["differences"] == []
    assert answer["api"]["names"] > 1000 and answer["api"]["headers"] > 100 and answer["api"]["virtuals"] > 100
    text = openreg_gen("check", "--torch", environment[1], "--against", environment[1], cwd=pristine).stdout
    assert "nothing of the spec breaks" in text and "nothing breaks" in text


def test_what_is_no_pytorch(openreg_gen, environment, pristine, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    argv = ("check", "-C", pristine, "--torch", environment[1], "--against")
    assert (
        "E0401" in (answer := openreg_gen(*argv, tmp_path / "empty", code=3).stderr)
        and "no PyTorch in this folder" in answer
    )
    assert "a file, and no folder" in openreg_gen(*argv, tmp_path / "file", code=3).stderr
    assert "no such folder" in openreg_gen(*argv, tmp_path / "absent", code=3).stderr


def test_headers_alone_need_a_tree(openreg_gen, environment, pristine, headers, tmp_path):
    where = headers("alone")
    assert check(openreg_gen, environment[1], pristine, where, 0)["api"]["differences"] == []
    spec = tmp_path / "spec.yaml"
    spec.write_text("backend: {name: mybackend}\n")
    outcome = openreg_gen("check", spec, "--torch", environment[1], "--against", where.parent, code=2)
    assert "E0405" in outcome.stderr


def test_a_folder_without_headers_is_said(openreg_gen, environment, pristine, other_releases):
    text = openreg_gen(
        "check", "-C", pristine, "--torch", environment[1], "--against", other_releases / "torch-2.15.0", code=None
    ).stdout
    assert "C++ and Python: not compared: the other PyTorch has no headers" in text
