"""Times a tree of `device.api: opencl`: launches beside bare ones of the same driver, kernels beside the CPU's, products of matrices,
copies beside the host's own, training steps, the first call with a cold and a warm program cache. All in one run, as times differ by
machine, ratios less so. Usage: device_opencl.py NAME TREE; prints JSON: [seconds, seconds that they are compared with, ratio].

The sides take turns, and of each the best round counts. Both have all cores.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile

from turns import compare

NAME, TREE = sys.argv[1:3]
sys.path.insert(0, TREE)

FIRST_CALL = """
import sys, time, torch
sys.path.insert(0, sys.argv[2])
__import__(f"torch_{sys.argv[1]}")
device = getattr(torch, sys.argv[1])
x = torch.ones(100, device=sys.argv[1])
device.synchronize()
start = time.perf_counter()
torch.sin(x)
device.synchronize()
print(time.perf_counter() - start)
"""


def first_calls() -> tuple[float, float]:
    """The same operator in two processes, whose driver and program cache start empty."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, f"{NAME.upper()}_PROGRAM_CACHE": f"{folder}/programs", "POCL_CACHE_DIR": f"{folder}/pocl"}
        os.mkdir(f"{folder}/pocl")
        argv = [sys.executable, "-c", FIRST_CALL, NAME, TREE]
        cold, warm = (float(subprocess.run(argv, env=env, check=True, capture_output=True).stdout) for _ in range(2))
    return cold, warm


class Bare:
    """One kernel of one work-item by OpenCL's own functions, on the first device of the platform that the tree uses."""

    SOURCE = b"kernel void next(global float* x) { x[get_global_id(0)] += 1; }"

    def __init__(self, platform: str):
        cl = self.cl = ctypes.CDLL("libOpenCL.so.1")
        pointer = ctypes.c_void_p
        for name in ("Context", "CommandQueueWithProperties", "ProgramWithSource", "Kernel", "Buffer"):
            getattr(cl, f"clCreate{name}").restype = pointer
        count = ctypes.c_uint()
        cl.clGetPlatformIDs(0, None, ctypes.byref(count))
        platforms = (pointer * count.value)()
        cl.clGetPlatformIDs(count, platforms, None)
        text = ctypes.create_string_buffer(256)
        for chosen in platforms:
            cl.clGetPlatformInfo(pointer(chosen), 0x0902, 256, text, None)  # CL_PLATFORM_NAME
            if platform in text.value.decode():
                break
        device = pointer()
        cl.clGetDeviceIDs(pointer(chosen), ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
        context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
        self.queue = pointer(cl.clCreateCommandQueueWithProperties(context, device, None, None))
        program = pointer(
            cl.clCreateProgramWithSource(context, 1, ctypes.byref(ctypes.c_char_p(self.SOURCE)), None, None)
        )
        cl.clBuildProgram(program, 1, ctypes.byref(device), None, None, None)
        self.kernel = pointer(cl.clCreateKernel(program, b"next", None))
        memory = pointer(cl.clCreateBuffer(context, ctypes.c_ulong(1), ctypes.c_size_t(4), None, None))
        cl.clSetKernelArg(self.kernel, 0, ctypes.c_size_t(8), ctypes.byref(memory))
        self.one = (ctypes.c_size_t * 1)(1)

        self.context = context

    def multiplier(self, n: int):
        """A function that queues a product of n x n matrices by CLBlast, on buffers of its own; None without the library."""
        try:
            clblast = ctypes.CDLL("libclblast.so.1")
        except OSError:
            return None
        size, one = ctypes.c_size_t, ctypes.c_float(1)
        buffers = [
            ctypes.c_void_p(self.cl.clCreateBuffer(self.context, ctypes.c_ulong(1), size(4 * n * n), None, None))
            for _ in range(3)
        ]
        zeros = (ctypes.c_float * (n * n))()
        for buffer in buffers:
            self.cl.clEnqueueWriteBuffer(self.queue, buffer, 1, size(0), size(4 * n * n), zeros, 0, None, None)
        a, b, c = ((buffer, size(0), size(n)) for buffer in buffers)
        queue = ctypes.byref(self.queue)

        def multiply() -> None:
            sizes = (size(n),) * 3
            code = clblast.CLBlastSgemm(102, 111, 111, *sizes, one, *a, *b, ctypes.c_float(0), *c, queue, None)
            assert code == 0, code
            self.cl.clFlush(self.queue)

        return multiply

    def launch(self) -> None:
        self.cl.clEnqueueNDRangeKernel(self.queue, self.kernel, 1, None, self.one, self.one, 0, None, None)
        self.cl.clFlush(self.queue)

    def wait(self) -> None:
        self.cl.clFinish(self.queue)


def main() -> None:
    results = {"first call, cold and warm program cache": first_calls()}
    import torch
    import torch.nn.functional as F

    package = __import__(f"torch_{NAME}")
    sys.path.insert(0, os.path.join(os.path.dirname(package.__path__[0]), "tests"))
    networks = __import__("networks")
    device = getattr(torch, NAME)
    at_once = lambda: None  # noqa: E731

    def beside(fn, sizes, repeat=1, rounds=10):
        """fn(tensors) on the device and on the CPU."""
        there = [torch.rand(size) for size in sizes]
        here = [x.to(NAME) for x in there]
        return compare([(lambda: fn(*here), device.synchronize), (lambda: fn(*there), at_once)], repeat, rounds)

    bare = Bare(os.environ.get(f"{NAME.upper()}_PLATFORM", ""))
    one = torch.ones(1, device=NAME)
    results["launch of a tiny kernel, and a bare one"] = compare(
        [(lambda: one.neg_(), device.synchronize), (bare.launch, bare.wait)], 2000, 10
    )
    size = 16 << 20
    results["x + y, 16 Mi"] = beside(torch.add, [size, size])
    results["exp, 16 Mi"] = beside(torch.exp, [size])
    results["sum, 16 Mi"] = beside(torch.sum, [size])
    results["sum of rows, 4 Ki x 4 Ki"] = beside(lambda x: x.sum(1), [(4096, 4096)])
    results["argmax of rows, 4 Ki x 4 Ki"] = beside(lambda x: x.argmax(1), [(4096, 4096)])
    results["matrix product, 1024"] = beside(torch.mm, [(1024, 1024)] * 2, rounds=3)
    multiply = bare.multiplier(1024)
    if multiply is not None:
        x, y = (torch.rand(1024, 1024, device=NAME) for _ in range(2))
        results["matrix product, 1024, and CLBlast alone"] = compare(
            [(lambda: x @ y, device.synchronize), (multiply, bare.wait)], 1, 4
        )
    plain, pinned = torch.rand(size), torch.rand(size).pin_memory()
    copy, target = torch.empty(size), torch.empty(size, device=NAME)
    memcpy = (lambda: ctypes.memmove(copy.data_ptr(), plain.data_ptr(), copy.nbytes), at_once)
    results["copy to the device, 64 MiB, and memcpy"] = compare(
        [(lambda: target.copy_(plain), device.synchronize), memcpy], 1, 10
    )
    results["copy of pinned memory, 64 MiB, and memcpy"] = compare(
        [(lambda: target.copy_(pinned), device.synchronize), memcpy], 1, 10
    )
    results["copy to the host, 64 MiB, and memcpy"] = compare(
        [(lambda: plain.copy_(target), device.synchronize), memcpy], 1, 10
    )
    for name in ("mlp", "cnn", "transformer"):
        sides = []
        for where in (NAME, "cpu"):
            model, inputs, targets = networks.network(name)
            model, inputs, targets = model.to(where), inputs.to(where), targets.to(where)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

            def step(model=model, inputs=inputs, targets=targets, optimizer=optimizer):
                optimizer.zero_grad()
                F.cross_entropy(model(inputs), targets).backward()
                optimizer.step()

            sides.append((step, device.synchronize if where == NAME else at_once))
        results[f"a training step, {name}"] = compare(sides, 20, 6)
    print(json.dumps({name: [*both, both[0] / both[1]] for name, both in results.items()}, indent=1))


main()
