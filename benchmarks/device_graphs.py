"""Times work that consists of launches: many small kernels one by one and as a graph, and a training step of a small network
both ways, by turns in one process. Usage: device_graphs.py NAME TREE; prints JSON: seconds of eager code and of a replay, each
the best of several rounds, the wait for the device included.
"""

import json
import sys
import time

import torch

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
ROUNDS, KERNELS = 40, 200


def small_kernels():
    x = torch.ones(16, device=NAME)

    def run():
        for _ in range(KERNELS):
            x.fill_(1)

    return run


def training_step():
    layers = [torch.nn.Linear(32, 32), torch.nn.ReLU()] * 4
    model = torch.nn.Sequential(*layers).to(NAME)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.ones(8, 32, device=NAME), torch.zeros(8, 32, device=NAME)

    def run():
        optimizer.zero_grad(set_to_none=True)
        difference = model(x) - y  # mse_loss is a kernel of the CPU on OpenCL devices, which no graph has
        (difference * difference).mean().backward()
        optimizer.step()

    return run


def timed(fn) -> float:
    start = time.perf_counter()
    fn()
    device.synchronize()
    return time.perf_counter() - start


def compare(run) -> tuple[float, float]:
    with device.stream(device.Stream()):
        for _ in range(3):
            run()
    graph = device.Graph()
    with device.graph(graph):
        run()
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for i, fn in enumerate((run, graph.replay)):
            best[i] = min(best[i], timed(fn))
    return best[0], best[1]


def main() -> None:
    print(json.dumps({f"{KERNELS} small kernels": compare(small_kernels()), "training step": compare(training_step())}))


main()
