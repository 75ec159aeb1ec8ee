"""Times a tree with the OpenVINO port (tests/external/openvino): operators beside bare infer requests, training steps, eager and with
torch.compile, beside the CPU's, the first step with a cold and a warm cache. All in one run, as times differ by machine, ratios less so.
Usage: device_compiler.py NAME TREE; prints JSON: [seconds, seconds that they are compared with, ratio].

The sides take turns, and of each the best round counts.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from turns import compare

NAME, TREE = sys.argv[1:3]
sys.path[:0] = [TREE, str(pathlib.Path(__file__).resolve().parent.parent / "tests/external/openvino")]

FIRST_STEP = """
import sys, time, torch
sys.path[:0] = sys.argv[2:]
__import__(f"torch_{sys.argv[1]}")
from openvino_tests import adam, train
start = time.perf_counter()
train("cnn", sys.argv[1], adam, batches=(8,))
print(time.perf_counter() - start)
"""


def first_steps() -> tuple[float, float]:
    """The same in two processes, whose cache starts empty."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, f"{NAME.upper()}_GRAPH_CACHE": folder}
        argv = [sys.executable, "-c", FIRST_STEP, NAME, *sys.path[:2]]
        cold, warm = (float(subprocess.run(argv, env=env, check=True, capture_output=True).stdout) for _ in range(2))
    return cold, warm


def bare(operator: str, size: int):
    """A call of an infer request that has its tensors."""
    import openvino as ov
    import openvino.opset15 as ops

    parameters = [ops.parameter([size, size], ov.Type.f32) for _ in range(2)]
    result = ops.add(*parameters) if operator == "add" else ops.matmul(*parameters, False, False)
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": "2"}
    request = ov.Core().compile_model(ov.Model([result], parameters, "graph"), "CPU", settings).create_infer_request()
    for i in range(2):
        request.set_input_tensor(i, ov.Tensor(ov.Type.f32, ov.Shape([size, size])))
    return request.infer


def training_step(name: str, where: str, wrap=lambda model: model):
    import openvino_tests
    import torch

    torch.manual_seed(0)
    model = openvino_tests.NETWORKS[name][0]().to(where)
    optimizer, run = openvino_tests.sgd(model.parameters()), wrap(model)
    given, target = (each.to(where) for each in openvino_tests.data(name, 8))

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(run(given), target).backward()
        optimizer.step()

    return step


def at_once() -> None:
    """Waits for what is done when it returns."""


def main() -> None:
    import torch

    __import__(f"torch_{NAME}")
    from importlib import import_module

    compile_graph = import_module(f"torch_{NAME}._graph.compiled").compile_graph
    results = {}
    for operator, size in (("add", 64), ("add", 1024), ("mm", 64), ("mm", 512)):
        x, y = (torch.rand(size, size).to(NAME) for _ in range(2))
        call = getattr(torch, operator)
        sides = [(lambda call=call, x=x, y=y: call(x, y), at_once), (bare(operator, size), at_once)]
        results[f"{operator}, {size} x {size}, and a bare request"] = compare(sides, 50, 20)
    for name in ("mlp", "cnn", "transformer"):
        host = training_step(name, "cpu")
        for way, wrap in (
            ("eager", lambda model: model),
            ("compiled", lambda model: torch.compile(model, backend=compile_graph)),
        ):
            sides = [(training_step(name, NAME, wrap), at_once), (host, at_once)]
            results[f"a training step, {name}, {way}, and on the CPU"] = compare(sides, 10, 5)
    results["the first step of the cnn, cold cache, and warm cache"] = list(first_steps())
    print(json.dumps({name: [*both, both[0] / both[1]] for name, both in results.items()}, indent=1))


main()
