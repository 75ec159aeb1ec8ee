"""Times compiled training steps on the CPU and on a device. Usage: device_compile.py NAME TREE [NETWORK ...]; prints JSON.

Of each network: the step compiled by Inductor for the CPU, the same on the device, and the device's step in eager code. They
take turns in one process; seconds of the best step each. A step is forward and backward; an optimizer is eager code.
"""

import importlib
import json
import sys
import time

import torch
import torch.nn.functional as F

NAME, TREE, *NETWORKS = sys.argv[1:]
sys.path[:0] = [TREE, f"{TREE}/tests"]
PACKAGE = f"torch_{NAME}"
importlib.import_module(PACKAGE)
networks = importlib.import_module("networks")
device = getattr(torch, NAME)
SCALE = 8
SECONDS = 6  # of each network, once it is compiled


class Step:
    def __init__(self, name: str, where: str, compiled: bool):
        model, self.inputs, self.targets = networks.network(name, SCALE)
        self.model = model.to(where)
        self.inputs, self.targets = self.inputs.to(where), self.targets.to(where)
        self.forward = torch.compile(self.model, fullgraph=True) if compiled else self.model
        self.wait = device.synchronize if where == NAME else lambda: None
        self.best, self.loss = float("inf"), None

    def run(self):
        self.model.zero_grad()
        start = time.perf_counter()
        self.loss = F.cross_entropy(self.forward(self.inputs), self.targets)
        self.loss.backward()
        self.wait()
        self.best = min(self.best, time.perf_counter() - start)


def measure(name: str) -> dict:
    torch._dynamo.reset()
    steps = {"cpu": Step(name, "cpu", True), "device": Step(name, NAME, True), "eager": Step(name, NAME, False)}
    for step in steps.values():  # compiles
        step.run()
        step.run()
        step.best = float("inf")
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        for step in steps.values():
            step.run()
    result = {side: step.best for side, step in steps.items()}
    return result | {"losses": [step.loss.item() for step in steps.values()]}


print(json.dumps({name: measure(name) for name in NETWORKS or networks.NAMES}))
