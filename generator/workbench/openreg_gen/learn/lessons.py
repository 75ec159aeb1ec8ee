"""What each exercise is: its file, its task, the reason for which it fails before that, and three hints."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lesson:
    """One exercise. `file` is what the learner edits; `fails` is a pattern of what its check says before that."""

    number: int
    word: str
    chapter: int
    title: str
    file: str
    fails: str
    hints: tuple[str, ...]

    @property
    def test(self) -> str:
        return f"exercises/test_{self.word}.py"

    @property
    def solution(self) -> str:
        return f"exercises/solutions/{Path(self.file).name}"


LESSONS = (
    Lesson(
        1,
        "where",
        0,
        "Find your way",
        "exercises/where.py",
        "is still empty",
        (
            "`import torch` loads the package by an entry point; a function of PyTorch's then gives the "
            "device its name.",
            "Read `pyproject.toml` for the entry point, and search the package: grep -rn "
            "rename_privateuse1_backend torch_*.",
            "Kernels that each backend needs are registered together, in one file of `csrc/aten`.",
        ),
    ),
    Lesson(
        2,
        "way",
        1,
        "Predict the way of x @ w + b",
        "exercises/way.py",
        "you predicted",
        (
            "Run it: openreg-gen trace 'x @ w + b' --device NAME --shape x=2x3x4 --shape w=4x5 --shape b=5",
            "`matmul` is composite: it has no kernel, it calls others. Which one multiplies two matrices?",
            "Two matrices are multiplied by mm, three dimensions or not: matmul folds the first two into one. For the last question "
            "run x + x with NAME_FALLBACK=none: the message names the form that writes to a given tensor.",
        ),
    ),
    Lesson(
        3,
        "deleter",
        2,
        "A deleter that leaks",
        "csrc/aten/native/deleter.cpp",
        "its 4000 bytes are still lent: a leak",
        (
            "A DataPtr has an address and a context. PyTorch calls deleter(context), not deleter(address).",
            "Compare with the DataPtr that `csrc/runtime/Allocator.cpp` returns: what is its second argument?",
            "The deleter needs the LentBlock: pass `block` where the code passes nullptr.",
        ),
    ),
    Lesson(
        4,
        "owner",
        2,
        "A view that owns nothing",
        "csrc/aten/native/owner.cpp",
        "it points to memory that was freed",
        (
            "A tensor holds a reference to a Storage; memory is freed with the last reference. Whose "
            "Storage does the view hold?",
            "How do the views in `csrc/aten/native/View.cpp` get their memory?",
            "at::as_strided(x, sizes, strides, offset) makes a tensor on the storage of x. The offset "
            "counts elements from the start of the storage.",
        ),
    ),
    Lesson(
        5,
        "stride",
        3,
        "Strides and offsets",
        "csrc/aten/native/stride.cpp",
        "begins at element 3 of its storage",
        (
            "Sizes, strides and the offset of a tensor describe its place in the storage. as_strided "
            "takes them for the storage, not for x.",
            "as_strided is in `csrc/aten/native/View.cpp`; ask Python: x[3:].storage_offset(), x[:, 1].stride().",
            "The offset is x.storage_offset(), and the new stride is twice the old one.",
        ),
    ),
    Lesson(
        6,
        "gaps",
        3,
        "Zero, and nothing else",
        "csrc/aten/native/gaps.cpp",
        "the columns between them untouched; the matrix is",
        (
            "x[:, ::2] has four elements. Where in memory are they?",
            "`csrc/aten/native/Copy.cpp` asks is_non_overlapping_and_dense() before it treats memory as one run.",
            "Element (i, j) is at data[i * x.stride(0) + j * x.stride(1)]. Give the kernel both sizes "
            "and both strides.",
        ),
    ),
    Lesson(
        7,
        "signature",
        4,
        "The signature decides",
        "csrc/aten/native/sigmoid.cpp",
        "aten::sigmoid: the kernel's signature is not the one of this PyTorch",
        (
            "openreg-gen ops show sigmoid prints the signature that PyTorch expects.",
            "The check is the static_assert of `csrc/aten/Signature.h`: it compares types, so const counts.",
            "A functional operator doesn't change its argument: const at::Tensor& self.",
        ),
    ),
    Lesson(
        8,
        "nan",
        4,
        "NaN is not less than anything",
        "csrc/aten/native/relu.cpp",
        "is now invisible",
        (
            "Every comparison with NaN is false. Which branch does NaN take?",
            "`tests/test_as_on_the_cpu.py` compares whole operators with the CPU, with such values too.",
            "Turn the comparison around: what is not positive becomes 0 only if it is less than or equal to 0.",
        ),
    ),
    Lesson(
        9,
        "layouts",
        4,
        "Memory has an order of its own",
        "csrc/aten/native/neg.cpp",
        "the order of memory, not of x.t\\(\\)",
        (
            "x.t() has the memory of x. Reading it from front to back gives the elements of x, in the order of x.",
            "`csrc/aten/native/relu.cpp` of the exercise before it has the missing line, if you kept it.",
            "self.contiguous() is self if it is contiguous, else a copy in the order of its elements. "
            "Read from that one.",
        ),
    ),
    Lesson(
        10,
        "guard",
        5,
        "The kernel without a guard",
        "csrc/aten/native/sqrt.cpp",
        "elements are wrong on device 1: sqrt did not wait",
        (
            "Device 0 is right and device 1 is wrong. Which device is the current one when sqrt runs, "
            "and whose stream does queue() take?",
            "The note in `csrc/runtime/Guard.h` says who makes the guard; `csrc/aten/Signature.h` has OperandsGuard.",
            "Begin the kernel with: const OperandsGuard guard(self);",
        ),
    ),
    Lesson(
        11,
        "registration",
        5,
        "PyTorch is not linked with support for this device",
        "csrc/runtime/Guard.cpp",
        "PyTorch is not linked with support for",
        (
            "Look for the macro that PyTorch offers to register a guard: c10/core/impl/DeviceGuardImplInterface.h.",
            "The class is all there, in `csrc/runtime/Guard.h`. Nothing tells PyTorch about it.",
            "C10_REGISTER_GUARD_IMPL(PrivateUse1, ...), with the name of the class, at namespace scope.",
        ),
    ),
    Lesson(
        12,
        "restore",
        5,
        "Switch back, whatever happens",
        "csrc/aten/native/restore.cpp",
        "device 1 is current",
        (
            "TORCH_CHECK throws. Which line of ramp() then never runs?",
            "A destructor runs whatever happens. `csrc/runtime/Guard.h` has a class at its end for that.",
            "Replace both lines, exchange_device() and set_device(), by one object: NAMEGuard "
            "guard(index), with your backend's name.",
        ),
    ),
    Lesson(
        13,
        "wait",
        6,
        "Let the stream wait",
        "exercises/wait.py",
        "it was made before the addition was done",
        (
            "Work on two streams has no order, unless you make one.",
            "`torch_NAME/backend/streams.py` has what torch.NAME adds; torch.Stream has wait_stream and wait_event.",
            "Before the copy: side.wait_stream(torch.accelerator.current_stream()). synchronize() would "
            "make the host wait.",
        ),
    ),
    Lesson(
        14,
        "reuse",
        6,
        "Memory that another stream still reads",
        "csrc/aten/native/reuse.cpp",
        "1024 of 1024 elements were overwritten",
        (
            "used_on() is the allocator's record_stream. What does this pool remember of it?",
            "c10::Event works on each device through the guard: `csrc/runtime/Guard.cpp`, record() and block().",
            "Keep the streams in block->users. When the block comes back, record an event on each, and "
            "let block->stream wait for it: the next user of the block is queued there. The current stream may be any.",
        ),
    ),
    Lesson(
        15,
        "item",
        6,
        "A number that isn't there yet",
        "csrc/aten/native/item.cpp",
        "the host read the memory before the device had written it",
        (
            "The kernel that computes x may still be queued. Who waits for it?",
            "_local_scalar_dense in `csrc/aten/native/Copy.cpp` is what item() calls.",
            "Queue a copy to the host on the current stream, then wait for that stream: "
            "getCurrentStream().synchronize().",
        ),
    ),
    Lesson(
        16,
        "hidden",
        7,
        "A fallback that hides a missing kernel",
        "csrc/aten/native/exp.cpp",
        r"x\.exp_\(\) never reached the device: .*aten::exp\.out has no kernel",
        (
            "All three forms give the right numbers. Which operator does each of them call? "
            "openreg-gen trace 'x.exp_()' --device NAME",
            "openreg-gen ops show exp says which form the others are made from. The message names it, too.",
            "Register exp.out instead of exp: at::Tensor& exp_out(const at::Tensor& self, at::Tensor& out). Give out "
            "the sizes of self, with at::native::resize_output, and copy the result there.",
        ),
    ),
    Lesson(
        17,
        "hooks",
        8,
        "Nobody waits for the gradient",
        "csrc/runtime/Hooks.cpp",
        "read as .* before it was computed",
        (
            "The backward of y ran on the stream on which y was made. When backward() returns, your current stream "
            "has to wait for that one. How does the engine know that the device is in use?",
            "The note in `csrc/runtime/Hooks.h` names the functions that PyTorch calls, and what for.",
            "hasPrimaryContext has to say whether memory or a stream was asked of the device: `csrc/runtime/Functions.h` "
            "has device_has_context.",
        ),
    ),
    Lesson(
        18,
        "fork",
        8,
        "A child that waits forever",
        "csrc/aten/native/fork.cpp",
        "the child never came back",
        (
            "fork() copies the memory of the parent, and one thread. Whose thread would run what this operator queues?",
            "Note [Fork] in `csrc/runtime/Functions.h` says what a child may do with a device, and which function throws.",
            "Call initialize() before the first call of the device's library.",
        ),
    ),
    Lesson(
        19,
        "composite",
        9,
        "The gradient that stopped",
        "csrc/aten/native/square.cpp",
        "nothing comes back through square",
        (
            "PyTorch composes square of other operators, and those have gradients. What calls them, now that square has a "
            "kernel?",
            "`torch._C._dispatch_dump_table('aten::square')` shows what is left for AutogradPrivateUse1. Chapter 9 has a "
            "torch::autograd::Function.",
            "forward saves self, goes below autograd with at::AutoDispatchBelowADInplaceOrView, and calls "
            "at::_ops::square::call(self). backward returns gradient * self * 2. Register its apply() for "
            "AutogradPrivateUse1.",
        ),
    ),
    Lesson(
        20,
        "choose",
        10,
        "The least to write",
        "exercises/choose.py",
        "hypot.out: native works, and leaves more to you than the way in which",
        (
            "Chapter 10 has a table of what PyTorch does in each way, and what is left to you.",
            "openreg-gen ops show OP lists the ways that fit an operator, with a reason for each that doesn't.",
            "A formula is pointwise, a loop is a stub, and a function that does it all is structured, unless `openreg-gen ops "
            "show` says no. Then it stays native: two of the three groups in `exercises/choose.py` have such an operator at "
            "their end, and one of them in the first group.",
        ),
    ),
    Lesson(
        21,
        "meta",
        10,
        "A shape that only the compiler sees",
        "csrc/aten/native/meta.cpp",
        "the compiled program says 3",
        (
            "Without torch.compile everything is right. Which function of the file does torch.compile call, and the rest "
            "of PyTorch does not?",
            "Call it yourself: torch.ops.lesson.table(torch.ones(2, device='meta'), torch.ones(3, device='meta')).shape.",
            "Rows come from a and columns from b, in both functions.",
        ),
    ),
    Lesson(
        22,
        "autocast",
        11,
        "Out of range",
        "csrc/aten/native/autocast.cpp",
        "the loss is inf",
        (
            "float16 ends at 65504. Which operator of the test gets a float16 tensor and makes larger numbers?",
            "An operator without a rule computes in the dtype of its arguments. exp has a rule for the same reason.",
            "y.pow(2) is aten::pow.Tensor_Scalar; a rule for an overload has three arguments: "
            "KERNEL_PRIVATEUSEONE(pow, Tensor_Scalar, fp32).",
        ),
    ),
    Lesson(
        23,
        "saved",
        11,
        "Saved there, opened here",
        "exercises/saved.py",
        "the file says where they were",
        (
            "torch.save writes the device of each tensor, with its index. What does torch.load do with it?",
            "torch.load has an argument for this; its documentation is help(torch.load). A device without an index isn't enough.",
            "map_location=torch.device(name, index), with the index of torch.NAME.current_device(), which `torch_NAME/backend/device.py` "
            "has. A copy of each tensor with .to() would double what shares memory.",
        ),
    ),
    Lesson(
        24,
        "flush",
        12,
        "Out of memory, with all of it free",
        "csrc/aten/native/flush.cpp",
        "no tensor is alive, and 700 KiB of 1024 can't be allocated",
        (
            "600 KiB are in the cache and nobody uses them. Whom does the cache ask for 700 KiB?",
            "The file has a function that gives cached memory back to the device, and nobody calls it.",
            "If device_memory() returns null, call release_cached() and ask once more, before the error.",
        ),
    ),
    Lesson(
        25,
        "record",
        12,
        "The copy that came too late",
        "exercises/record.py",
        "its memory was reused before the copy read it",
        (
            "When x is dropped, the copy is still queued behind slow_add_. Who knows that `side` reads the memory of x?",
            "The allocator is `csrc/aten/native/Lend.cpp`: look at what take_back() does for the streams in `users`.",
            "After queueing the copy: torch.ops.lesson.record_stream(x, side.stream_id). With the backend's own allocator "
            "it is x.record_stream(side).",
        ),
    ),
    Lesson(
        26,
        "judge",
        12,
        "A test that can fail",
        "exercises/judge.py",
        "your test accepts a relu that turns NaN into 0",
        (
            "A test is as good as the wrong kernels that it refuses. Which value, which dtype, which layout and which device "
            "does randn(100) never try?",
            "`tests/test_as_on_the_cpu.py` does this for each operator of the tree.",
            "Compare values and dtype with torch.testing.assert_close(..., equal_nan=True), for NaN, float64, a transposed, an "
            "empty and an integer tensor, on both devices; and look at x afterwards.",
        ),
    ),
    Lesson(
        27,
        "waits",
        12,
        "A loop that starves the device",
        "exercises/waits.py",
        "the host waited 20 times in 20 steps",
        (
            "Which call of the loop needs a number on the host, and so waits until the device has computed it?",
            "`csrc/aten/native/Copy.cpp` has _local_scalar_dense, which is what item() calls. The mean is wanted once, at the end.",
            "Keep loss.detach() of each step in a list, and call item() on their sum after the loop. Without detach() you "
            "would keep the graph of each step, too.",
        ),
    ),
    Lesson(
        28,
        "writes",
        13,
        "A write that only eager code does",
        "csrc/aten/native/writes.cpp",
        "it left bump out",
        (
            "The compiler reads no kernels. From what does it know what an operator writes?",
            "A line at the end of the file says what bump does. Compare with `csrc/aten/native/Slow.cpp`.",
            "In the schema, the argument that is written has an alias: Tensor(a!) x.",
        ),
    ),
    Lesson(
        29,
        "program",
        14,
        "One program for all",
        "csrc/aten/native/program.cpp",
        "which program did the device run",
        (
            "Each dtype alone is right. What is different if float32 came first?",
            "The map in the file finds a program by its key. Which two calls have the same key, and need two programs?",
            "Put the dtype into the key: name + at::toString(type).",
        ),
    ),
    Lesson(
        30,
        "release",
        15,
        "A signature that changed",
        "csrc/aten/native/gelu.cpp",
        "aten::gelu: the kernel's signature is not the one of this PyTorch",
        (
            "openreg-gen ops show gelu prints the schema of your PyTorch. What is new since the comment in the file?",
            "To take the new argument makes the file compile. The note in `csrc/aten/Signature.h` doesn't promise more than that.",
            "std::string_view approximate is 'none' or 'tanh'. For 'tanh', erf(x / sqrt(2)) becomes "
            "tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)); anything else is an error.",
        ),
    ),
    Lesson(
        31,
        "conflict",
        15,
        "Two changes to the same lines",
        "csrc/aten/native/clip.cpp",
        "version control conflict marker in file",
        (
            "There are three versions: yours, what openreg-gen wrote last, and what it writes now. Compare each of the others "
            "with the one in the middle.",
            "You changed the comparisons, so that NaN stays. The new render has a guard, from `csrc/aten/Signature.h`, and "
            "converts the limits once.",
            "Take the new render, put your order of comparisons into it, and delete the other two versions with all markers.",
        ),
    ),
)
